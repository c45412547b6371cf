// The shape of a step function, for what chooses a split without IR.
#pragma once

#include "compiler/partition/StepShape.h"
#include "dialects/llm/Llm.h"
#include "machine/Result.h"

namespace orrery::partition {

/// A section of a step, or its head: its ops are those from `begin` to the next
/// one's `begin`. Before the first stands the embedding.
struct SectionOps {
  mlir::Operation *begin;
  /// The residual stream; before down, the gated product, too.
  llvm::SmallVector<mlir::Value, 2> entering;
};

/// Finds the places between sections, and behind the last one that of the head.
/// Before each attention and each gated product that is the last place at which
/// one value is live, the residual stream; the gated product itself ends a
/// section, at which one more is. The head begins where for the first time
/// again one is. Fails, with a diagnostic, when there is no such place.
mlir::FailureOr<llvm::SmallVector<SectionOps>>
findSections(mlir::func::FuncOp step);

WeightFormat formatOf(llm::WeightFormat format);

/// The shape of a step as compiler/import builds it. An error when it is none:
/// layers of other than seven matrices, or of different sizes.
Expected<StepShape> readShape(mlir::func::FuncOp step,
                              llvm::ArrayRef<SectionOps> sections);

} // namespace orrery::partition
