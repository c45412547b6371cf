// The order of the passes.
#pragma once

#include "mlir/Pass/PassManager.h"

#include <string>

namespace orrery {

/// Adds every pass from a step in `llm` to its `tick.program`. `machine` is a
/// preset or a file.
void buildPipeline(mlir::OpPassManager &passes, const std::string &machine);

} // namespace orrery
