#include "compiler/partition/StageCosts.h"

#include <algorithm>

namespace orrery::partition {

StageCosts::StageCosts(const Machine &m, const StepShape &shape, int64_t tp,
                       bool ring, Products products)
    : machine(m), sections(kSections * int64_t(shape.layers.size())) {
  ByteModel bytes(m, shape, tp, ring, products);
  TickModel ticks(m, shape, tp, ring, products);
  fixedBytes = bytes.fixed();
  headBytes = bytes.head(shape.head);
  embedding = ticks.embedding();
  head = ticks.head(shape.head);
  bytesBefore.resize(1);
  ticksBefore.resize(1);
  const LayerShape *costed = nullptr;
  StageBytes bytesOf[kSections];
  StageTicks ticksOf[kSections], behind[kSections];
  for (const LayerShape &layer : shape.layers) {
    bool known = costed && *costed == layer;
    costed = &layer;
    for (int64_t k = 0; k < kSections; ++k) {
      if (!known) {
        bytesOf[k] = bytes.section(layer, kindOf(k));
        ticksOf[k] = ticks.section(layer, kindOf(k));
        behind[k] = ticks.betweenStages(layer, kindOf(k));
      }
      bytesBefore.push_back(bytesBefore.back());
      bytesBefore.back() += bytesOf[k];
      ticksBefore.push_back(ticksBefore.back());
      ticksBefore.back() += ticksOf[k];
      between.push_back(behind[k]);
    }
  }
}

int64_t StageCosts::pieces(Cuts cuts) const {
  return cuts == Cuts::Sections ? sections : sections / kSections * 2;
}
int64_t StageCosts::mostStages(Cuts cuts) const { return pieces(cuts) + 1; }

int64_t StageCosts::leastStages() const {
  const StageBytes &all = bytesBefore.back();
  Bytes needed = all.weights + all.kv + all.tables + headBytes.weights;
  return std::max<int64_t>(1, (needed - 1) / machine.sramBytes() + 1);
}

// Sublayers: attention, and the two sections of the feed-forward network.
int64_t StageCosts::beginOf(int64_t k, Cuts cuts) {
  return cuts == Cuts::Sections ? k : k / 2 * kSections + k % 2;
}

StagePlan StageCosts::stage(int64_t first, int64_t count, bool last,
                            int64_t users) const {
  auto from = size_t(first), to = size_t(first + count);
  StagePlan plan{first, count, bytesBefore[to] - bytesBefore[from],
                 ticksBefore[to] - ticksBefore[from]};
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
    plan.ticks += between[to - 1];
  }
  plan.ticks.matrix +=
      spillTicks(machine, shortageOf(machine, plan.bytes).spilled);
  return plan;
}

// The other stages share the rest evenly; what is left over goes one each to
// the first of them, but not to the very first, which has the embedding.
Deal StageCosts::dealWithLast(int64_t pp, int64_t last, int64_t users,
                              Cuts cuts) const {
  Deal out;
  int64_t others = pp - 1, first = 0, rest = pieces(cuts) - last;
  int64_t base = others ? rest / others : 0, more = others ? rest % others : 0;
  for (int64_t s = 0; s < pp; ++s) {
    bool isLast = s == others, gets = s >= 1 && s <= more;
    int64_t next = first + (isLast ? last : base + (gets ? 1 : 0));
    int64_t begin = beginOf(first, cuts);
    out.stages.push_back(
        stage(begin, beginOf(next, cuts) - begin, isLast, users));
    first = next;
    const StagePlan &plan = out.stages.back();
    out.shortage = std::max(out.shortage, shortage(machine, plan.bytes));
    out.latency += plan.ticks.total();
    out.slowest = std::max(out.slowest, plan.ticks.total());
  }
  return out;
}

Deal StageCosts::deal(int64_t pp, int64_t users, Cuts cuts) const {
  int64_t all = pieces(cuts);
  if (pp == 1) {
    return dealWithLast(1, all, users, cuts);
  }
  Deal best;
  int64_t even = (all + pp - 1) / pp;
  for (int64_t last = std::min(even, all - (pp - 1)); last >= 0; --last) {
    Deal deal = dealWithLast(pp, last, users, cuts);
    bool better =
        best.stages.empty() || deal.shortage < best.shortage ||
        (deal.shortage == best.shortage && deal.slowest < best.slowest);
    if (better) {
      best = std::move(deal);
    }
  }
  return best;
}

} // namespace orrery::partition
