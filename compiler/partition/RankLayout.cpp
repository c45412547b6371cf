#include "compiler/partition/RankLayout.h"

namespace orrery::partition {

static AxisLayout gatherOver(int64_t tp, const AxisLayout &shard,
                             int64_t total) {
  return tp == 1 ? shard : shard.gathered(int32_t(tp), int32_t(total));
}

static int64_t tilesOf(const Machine &machine, int64_t positions) {
  return (positions + machine.lanes - 1) / machine.lanes;
}

RankLayout::RankLayout(const Machine &m, const StepShape &s, int64_t tp)
    : machine(m), chip(m), tp(tp),
      local(shardHeads(s.heads, s.kvHeads, s.headDim, tp)),
      tiles(tilesOf(m, s.bucket)), allTiles(tilesOf(m, s.context)) {
  auto dense = [&](int64_t n) {
    return AxisLayout::dense(int32_t(n), m.lanes);
  };
  auto heads = [&](int64_t n) {
    return AxisLayout::ofHeads(int32_t(n), int32_t(local.kvHeads),
                               int32_t(s.headDim), m.lanes);
  };
  ownHidden = dense(shardWidth(s.hidden, tp));
  hidden = gatherOver(tp, ownHidden, s.hidden);
  q = heads(local.heads);
  kv = heads(local.kvHeads);
  attended = s.headDim % 32 == 0 ? q : dense(q.elements);
  allHeads = gatherOver(tp, attended, s.heads * s.headDim);
  ownFfn = dense(shardWidth(s.ffn, tp));
  allFfn = gatherOver(tp, ownFfn, s.ffn);
  ownVocab = dense(shardWidth(s.vocab, tp));
}

void RankLayout::deal(
    WeightFormat format, const AxisLayout &in, const AxisLayout &out,
    const std::function<void(int32_t, int64_t, uint32_t)> &piece) const {
  int32_t step = format == WeightFormat::F16 ? chip.planesPerHemisphere : 1;
  int32_t planes = chip.planes() / step;
  int64_t inner = in.vectors();
  for (const RowPiece &p : dealRows(out, planes)) {
    piece(p.plane * step, p.count * inner, uint32_t(p.high - p.low));
  }
}

void RankLayout::eachMatrix(
    const LayerShape &layer, Section kind,
    const std::function<void(const Matrix &, const AxisLayout &,
                             const AxisLayout &)> &visit) const {
  switch (kind) {
  case Section::Attention:
    visit(layer.q, hidden, q);
    visit(layer.k, hidden, kv);
    visit(layer.v, hidden, kv);
    visit(layer.output, allHeads, ownHidden);
    return;
  case Section::Gated:
    visit(layer.gate, hidden, ownFfn);
    visit(layer.up, hidden, ownFfn);
    return;
  case Section::Down:
    visit(layer.down, allFfn, ownHidden);
    return;
  }
}

} // namespace orrery::partition
