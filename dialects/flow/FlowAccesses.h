// Every access an op makes to SRAM, in one form for all ops.
#pragma once

#include "dialects/flow/Flow.h"

namespace orrery::flow {

/// One operand of an op that is memory. `access` is null where the op touches
/// the memory as a whole (receive, send, logits, weights, transpose's tiles).
struct MemoryUse {
  mlir::Value memory;
  AccessAttr access;
  bool writes;
};

/// In operand order; empty for alloc and region.
llvm::SmallVector<MemoryUse> memoryUses(mlir::Operation *op);

} // namespace orrery::flow
