// The grid dialect in C++. GridOps.td is its specification.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/grid/GridDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/grid/GridOps.h.inc"

namespace orrery::grid {

/// Function attribute that names the system a step is compiled for.
inline constexpr llvm::StringLiteral kMachineAttr = "grid.machine";

} // namespace orrery::grid
