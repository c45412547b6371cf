// Probes: the part of a step up to one of its ops, to see that op's value on
// the chip. Not for use: a probe is a program of its own.
#pragma once

#include "compiler/Compile.h"

#include <string>

namespace orrery::runtime {

/// The location's name of `op`, such as "layer 3 attn_q".
std::string nameOf(mlir::Operation *op);

/// Makes the step of `module` end behind the op named `last`: it returns the
/// op's value in place of the logits, and their argmax. Ops that only others
/// needed stay, for the compiler to drop. Fails when there is no such op, or
/// its value is no rows.
Status cutStep(mlir::ModuleOp module, const std::string &last);

/// compileStep of a step that is cut.
Expected<CompiledStep> compileProbe(mlir::MLIRContext &context,
                                    const models::ModelConfig &config,
                                    const CompileRequest &request,
                                    const std::string &last);

} // namespace orrery::runtime
