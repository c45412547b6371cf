// How the tensors of one rank lie in vectors, and how its weight rows are dealt
// to planes: what compiler/lower makes of them, in sizes only.
#pragma once

#include "compiler/lower/AxisLayout.h"
#include "compiler/lower/ChipLayout.h"
#include "compiler/lower/DealRows.h"
#include "compiler/partition/ShardSizes.h"
#include "compiler/partition/StepShape.h"

#include <functional>

namespace orrery::partition {

struct RankLayout {
  RankLayout(const Machine &machine, const StepShape &shape, int64_t tp);

  const Machine &machine;
  ChipLayout chip;
  int64_t tp;
  HeadShard local;
  AxisLayout hidden;    ///< of the residual stream, whole on each rank
  AxisLayout ownHidden; ///< its own shard
  AxisLayout q, kv;     ///< own heads
  AxisLayout attended;  ///< own heads as they leave attention
  AxisLayout allHeads;  ///< those of all ranks
  AxisLayout ownFfn, allFfn, ownVocab;

  /// Position tiles of the step's bucket and of the caches.
  int64_t tiles, allTiles;

  /// Calls `piece(plane, tiles, rows)` for what each plane makes of a product
  /// from `in` to `out`.
  void deal(WeightFormat format, const AxisLayout &in, const AxisLayout &out,
            const std::function<void(int32_t, int64_t, uint32_t)> &piece) const;

  /// Calls `visit(matrix, in, out)` for the products of a section.
  void eachMatrix(const LayerShape &layer, Section kind,
                  const std::function<void(const Matrix &, const AxisLayout &,
                                           const AxisLayout &)> &visit) const;
};

} // namespace orrery::partition
