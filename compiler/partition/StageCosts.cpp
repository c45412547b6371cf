#include "compiler/partition/StageCosts.h"

#include <algorithm>

namespace orrery::partition {

StageCosts::StageCosts(const Machine &m, const StepShape &shape, int64_t tp,
                       bool ring)
    : machine(m), sublayers(kSublayers * int64_t(shape.layers.size())) {
  ByteModel bytes(m, shape, tp);
  TickModel ticks(m, shape, tp, ring);
  fixedBytes = bytes.fixed();
  headBytes = bytes.head(shape.head);
  embedding = ticks.embedding();
  head = ticks.head(shape.head);
  between = ticks.betweenStages();
  bytesBefore.resize(1);
  ticksBefore.resize(1);
  const LayerShape *costed = nullptr;
  StageBytes bytesOf[kSublayers];
  StageTicks ticksOf[kSublayers];
  for (const LayerShape &layer : shape.layers) {
    bool known = costed && *costed == layer;
    costed = &layer;
    for (Sublayer kind : {Sublayer::Attention, Sublayer::FeedForward}) {
      auto k = size_t(kind);
      if (!known) {
        bytesOf[k] = bytes.sublayer(layer, kind);
        ticksOf[k] = ticks.sublayer(layer, kind);
      }
      bytesBefore.push_back(bytesBefore.back());
      bytesBefore.back() += bytesOf[k];
      ticksBefore.push_back(ticksBefore.back());
      ticksBefore.back() += ticksOf[k];
    }
  }
}

template <class Sum> static Sum difference(const Sum &before, const Sum &after);

template <> StageBytes difference(const StageBytes &a, const StageBytes &b) {
  return {b.weights - a.weights,    b.kv - a.kv,
          b.tables - a.tables,      b.temporaries - a.temporaries,
          b.program - a.program,    b.nominalWeights - a.nominalWeights,
          b.nominalKv - a.nominalKv};
}

template <> StageTicks difference(const StageTicks &a, const StageTicks &b) {
  return {b.matrix - a.matrix,   b.attention - a.attention,
          b.vectors - a.vectors, b.collectives - a.collectives,
          b.hop - a.hop,         b.host - a.host};
}

StagePlan StageCosts::stage(int64_t first, int64_t count, bool last,
                            int64_t users) const {
  auto from = size_t(first), to = size_t(first + count);
  StagePlan plan{first, count, difference(bytesBefore[from], bytesBefore[to]),
                 difference(ticksBefore[from], ticksBefore[to])};
  plan.bytes += fixedBytes;
  plan.bytes.kv *= users;
  plan.bytes.nominalKv *= users;
  if (first == 0) {
    plan.ticks += embedding;
  }
  if (last) {
    plan.bytes += headBytes;
    plan.ticks += head;
  } else {
    plan.ticks += between;
  }
  return plan;
}

// The other stages share the rest evenly; what is left over goes one each to
// the first of them, but not to the very first, which has the embedding.
Deal StageCosts::dealWithLast(int64_t pp, int64_t last, int64_t users) const {
  Deal out;
  int64_t others = pp - 1, first = 0;
  int64_t base = others ? (sublayers - last) / others : 0;
  int64_t more = others ? (sublayers - last) % others : 0;
  for (int64_t s = 0; s < pp; ++s) {
    bool isLast = s == others, gets = s >= 1 && s <= more;
    int64_t count = isLast ? last : base + (gets ? 1 : 0);
    out.stages.push_back(stage(first, count, isLast, users));
    first += count;
    const StagePlan &plan = out.stages.back();
    out.shortage = std::max(out.shortage, shortage(machine, plan.bytes));
    out.latency += plan.ticks.total();
    out.slowest = std::max(out.slowest, plan.ticks.total());
  }
  return out;
}

Deal StageCosts::deal(int64_t pp, int64_t users) const {
  if (pp == 1) {
    return dealWithLast(1, sublayers, users);
  }
  Deal best;
  int64_t even = (sublayers + pp - 1) / pp;
  for (int64_t last = std::min(even, sublayers - (pp - 1)); last >= 1; --last) {
    Deal deal = dealWithLast(pp, last, users);
    bool better =
        best.stages.empty() || deal.shortage < best.shortage ||
        (deal.shortage == best.shortage && deal.slowest < best.slowest);
    if (better) {
      best = std::move(deal);
    }
  }
  return best;
}

Deal dealLayers(const Machine &machine, const StepShape &shape, int64_t tp,
                int64_t pp, bool ring, int64_t users) {
  return StageCosts(machine, shape, tp, ring).deal(pp, users);
}

} // namespace orrery::partition
