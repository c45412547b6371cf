#include "compiler/partition/StageCosts.h"

#include <algorithm>

namespace orrery::partition {

/// Sublayers: attention, and the two sections of the feed-forward network.
static int64_t piecesOfLayer(Cuts cuts) {
  return cuts == Cuts::Sections ? kSections : 2;
}

StageCosts::StageCosts(const Machine &m, const StepShape &shape, int64_t tp,
                       bool ring, Products products)
    : machine(m), room(m), sections(kSections * int64_t(shape.layers.size())) {
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
  int64_t begin = 0, number = 0;
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
    begin = known ? begin : number;
    alike.push_back({begin, ++number});
  }
  for (size_t l = alike.size(); l-- > 1;) {
    if (alike[l - 1].first == alike[l].first) {
      alike[l - 1].second = alike[l].second;
    }
  }
}

int64_t StageCosts::pieces(Cuts cuts) const {
  return sections / kSections * piecesOfLayer(cuts);
}

int64_t StageCosts::beginOf(int64_t k, Cuts cuts) {
  return cuts == Cuts::Sections ? k : k / 2 * kSections + k % 2;
}

Run StageCosts::likeOf(Run run, Cuts cuts) const {
  int64_t ofLayer = piecesOfLayer(cuts);
  auto layer = size_t(run.first / ofLayer);
  if (layer < alike.size() && run.end() <= alike[layer].second * ofLayer) {
    run.first = alike[layer].first * ofLayer + run.first % ofLayer;
  }
  return run;
}

StagePlan StageCosts::stage(Run run, bool last, int64_t users,
                            Cuts cuts) const {
  int64_t first = beginOf(run.first, cuts);
  int64_t count = beginOf(run.end(), cuts) - first;
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
  if (Bytes spilled = room.shortageOf(plan.bytes).spilled) {
    plan.ticks.matrix += spillTicks(machine, spilled);
  }
  return plan;
}

} // namespace orrery::partition
