// The grid dialect in C++: where a model is computed. The .td files beside
// this one are its specification.
#pragma once

#include "dialects/grid/GroupLinks.h"
#include "dialects/llm/Llm.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/grid/GridDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/grid/GridAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/grid/GridOps.h.inc"

namespace orrery::grid {

/// Function attribute that names the system a step is compiled for.
inline constexpr llvm::StringLiteral kMachineAttr = "grid.machine";
/// Of an llm.linear: which rows of its matrix a rank holds. Of a function's
/// result: which elements a rank of the last stage returns.
inline constexpr llvm::StringLiteral kShardAttr = "grid.shard";

/// Of an llm.linear: which columns of its matrix a rank holds, so that its
/// result is a partial.
inline constexpr llvm::StringLiteral kColumnsAttr = "grid.columns";

/// The rows of `op`'s matrix that each rank holds; null: all of them.
ShardAttr shardOf(llm::LinearOp op);
/// The shard of the function's result `index`; null: it is whole.
ShardAttr resultShard(mlir::func::FuncOp step, unsigned index);

/// The columns of `op`'s matrix that each rank holds; null: all of them.
ShardAttr columnsOf(llm::LinearOp op);
/// The product of which `partial` is a rank's part; null: it is none.
llm::LinearOp partialProduct(mlir::Value partial);
/// (A3) of GridDialect.td.
mlir::LogicalResult verifyColumns(mlir::Operation *op, mlir::Attribute value);

} // namespace orrery::grid
