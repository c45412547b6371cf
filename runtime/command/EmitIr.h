// A step as text in one of the four dialects.
#pragma once

#include "compiler/Compile.h"

#include <string>

namespace orrery::command {

enum class Dialect { Llm, Grid, Flow, Tick };

/// The module after the passes that lead to `dialect`, with the locations that
/// name ops. The error is the first diagnostic, as one line.
Expected<std::string> emitIr(mlir::MLIRContext &context,
                             const models::ModelConfig &config,
                             const CompileRequest &request, Dialect dialect);

} // namespace orrery::command
