// The order of the passes.
#pragma once

#include "mlir/Pass/PassManager.h"

#include <string>

namespace orrery {

/// From a step in `llm` to its placed flow.program. `machine` is a preset or a
/// file.
void buildPlacement(mlir::OpPassManager &passes, const std::string &machine);
/// From there to the tick.program.
void buildSchedule(mlir::OpPassManager &passes);

} // namespace orrery
