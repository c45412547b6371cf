// The shape of a step function, for what chooses a split without IR.
#pragma once

#include "compiler/partition/StepShape.h"
#include "dialects/llm/Llm.h"
#include "machine/Result.h"

namespace orrery::partition {

/// A sublayer of a step: its ops are those from `begin` to the next one's
/// `begin`. Before the first stands the embedding, behind the ops of the last
/// one the head.
struct SublayerOps {
  mlir::Operation *begin;
  mlir::Value entering; ///< the residual stream
};

/// Finds the places between sublayers at which one value is live, the residual
/// stream: the last such place before each attention and each gated product.
/// Fails, with a diagnostic,
/// when there is none.
mlir::FailureOr<llvm::SmallVector<SublayerOps>>
findSublayers(mlir::func::FuncOp step);

WeightFormat formatOf(llm::WeightFormat format);

/// The shape of a step as compiler/import builds it. An error when it is none:
/// layers of other than seven matrices, or of different sizes.
Expected<StepShape> readShape(mlir::func::FuncOp step,
                              llvm::ArrayRef<SublayerOps> sublayers);

} // namespace orrery::partition
