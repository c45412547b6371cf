// Checks that several flow ops share. Each takes the label of the constraint it
// stands for in that op's specification.
#pragma once

#include "dialects/flow/Flow.h"

namespace orrery::flow {

/// The access stays inside `memory`: at POS = 0, and with `position` also at
/// POS = bucket - 1 of the op's program.
mlir::LogicalResult verifyInside(mlir::Operation *op, llvm::StringRef label,
                                 AccessAttr access, mlir::Type memory);
/// The access names no lanes, tokens or stripes, as a read must not.
mlir::LogicalResult verifyPlain(mlir::Operation *op, llvm::StringRef label,
                                AccessAttr access);
/// 0 is west, 1 is east.
mlir::LogicalResult verifySide(mlir::Operation *op, llvm::StringRef label,
                               int64_t side);
mlir::LogicalResult verifyF32(mlir::Operation *op, llvm::StringRef label,
                              mlir::Value buffer);

inline StreamType elementOf(mlir::Value buffer) {
  return mlir::cast<BufferType>(buffer.getType()).getType();
}

} // namespace orrery::flow
