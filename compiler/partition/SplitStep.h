// Writes a split into IR: one grid.stage for each stage of the pipeline, with
// the ops of one rank in it.
#pragma once

#include "compiler/partition/RankBuilder.h"
#include "compiler/partition/ReadShape.h"
#include "dialects/grid/Grid.h"
#include "machine/Geometry.h"

namespace orrery::partition {

/// On a step: whether stages may, or must, end inside feed-forward networks.
/// Without it: where that takes it to fit. --grid-place-stages leaves there
/// what was chosen.
inline constexpr char kCutAttr[] = "grid.cut";

/// One stage: its first section and the chips of its ranks, equally many in
/// each stage. A relay has the first section of the stage that it leads to.
struct StageSite {
  int64_t first = 0;
  llvm::SmallVector<int32_t> chips;
};

/// How the chips of all stages are linked (GridStage.td).
struct StageLinks {
  bool ring = false;
  int32_t cables = 1;
};

/// Replaces the ops of `step` by stages. `sites` are in order, the first with
/// section 0, the last perhaps with the head alone. The step's results become
/// the last stage's; those spread over ranks say so with `grid.shard`. `formOf`
/// says how products are shared whose rows are. Fails, with a diagnostic, on an
/// op that ranks cannot share; the step is then of no more use.
mlir::LogicalResult splitStep(mlir::func::FuncOp step,
                              llvm::ArrayRef<SectionOps> sections,
                              llvm::ArrayRef<StageSite> sites, StageLinks links,
                              Bytes capacityOfChip, FormOf formOf = {});

/// Bytes of the op's matrix as a chip stores it, without padding to lanes.
Bytes nominalBytes(llm::LinearOp op);
/// K and V of the op's KV heads (not query heads) at full context, likewise.
Bytes nominalBytes(llm::AttentionOp op);

} // namespace orrery::partition
