// How long a stage takes, estimated from the machine's numbers without
// compiling anything: good enough to compare splits, not a prediction of the
// schedule, which is exact and comes from scheduling.
//
// The model: units work one after another along the dependences of a layer,
// each at its own rate, and every transit over streams and links is paid.
//   matrix      the planes' tiles at the rate streams install them, or the rows
//               at a row a tick when that takes longer; fill and drain
//   attention   the same for K and V tiles, and all VXM bursts of softmax
//   vectors     VXM bursts of norms, sums and gates
//   collectives copies, link transits and crossings of gathers, and crossings
//               and sums of partials; in a ring one after another for each rank
//   hop         the own shard of the residual stream, or of the gated product,
//               to the next stage
//   host        its link, at both ends of the pipeline
#pragma once

#include "compiler/partition/ProductForms.h"
#include "compiler/partition/StageBytes.h"

namespace orrery::partition {

struct StageTicks {
  Tick matrix = 0, attention = 0, vectors = 0, collectives = 0, hop = 0,
       host = 0;
  Tick total() const {
    return matrix + attention + vectors + collectives + hop + host;
  }
  static constexpr Tick StageTicks::*kTerms[] = {
      &StageTicks::matrix,      &StageTicks::attention, &StageTicks::vectors,
      &StageTicks::collectives, &StageTicks::hop,       &StageTicks::host};
};

/// What a stage's weights beyond the weight slices cost it: those of a side are
/// read one after another, over fewer slices.
Tick spillTicks(const Machine &machine, Bytes spilled);

/// What every stage of a split is made of.
class TickModel {
public:
  TickModel(const Machine &machine, const StepShape &shape, int64_t tp,
            bool ring, Products products = Products::Chosen);

  /// A section whose result stays on all ranks, for the next one or the head.
  StageTicks section(const LayerShape &layer, Section kind) const;
  StageTicks layer(const LayerShape &layer) const;
  /// How ranks share the sublayer's last product, by `matrix`.
  ProductForm form(Section kind, const Matrix &matrix) const;
  /// From the shard that the product takes to its result on all ranks.
  StageTicks lastProduct(Section kind, const Matrix &matrix,
                         ProductForm form) const;
  /// Embedding rows from the host.
  StageTicks embedding() const;
  /// Final norm, head matrix, the best token to the host.
  StageTicks head(const Matrix &matrix) const;
  /// From a stage's last section, of that kind and layer, to the first op of
  /// the next stage.
  StageTicks betweenStages(const LayerShape &layer, Section last) const;

private:
  struct Parts;
  const Machine &machine;
  const StepShape &shape;
  int64_t tp;
  bool ring;
  Products products;
};

} // namespace orrery::partition
