// A program as a tick.program: the inverse of EncodeProgram.h.
#pragma once

#include "dialects/tick/Tick.h"
#include "machine/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace orrery::compiler {

/// A module that holds `program`, which is valid (validateProgram), as one
/// tick.program; encodeProgram gives `program` back, except that equal lines of
/// the location table become one. A machine that is a preset is named, any
/// other carried as JSON text. Not verified: region names that are not unique
/// are valid in a program but not in a tick.program.
mlir::OwningOpRef<mlir::ModuleOp> decodeProgram(mlir::MLIRContext &context,
                                                const Program &program);

} // namespace orrery::compiler
