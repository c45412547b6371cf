#include "compiler/partition/UnitLimits.h"

#include "compiler/partition/RankLayout.h"

namespace orrery::partition {

Status checkUnits(const Machine &machine, const StepShape &shape, int64_t tp) {
  auto refuse = [&](const std::string &what, int64_t needed,
                    const std::string &holder, int64_t has) {
    return Error{shape.model + " on " + machine.name +
                 ", tp=" + std::to_string(tp) + ": " + what + " needs " +
                 std::to_string(needed) + ", " + holder + " has " +
                 std::to_string(has)};
  };
  int64_t slot = (shape.headDim + 31) / 32 * 32;
  if (slot > machine.lanes) {
    return refuse("a head of " + std::to_string(shape.headDim), slot,
                  "a vector of the chip", machine.lanes);
  }
  if (ChipLayout(machine).groups < 1) {
    return refuse("a weight group beside the data slices",
                  machine.matrix.installStreams + ChipLayout::kMinDataSlices,
                  "a hemisphere", machine.sram.slicesPerHemisphere);
  }
  RankLayout rank(machine, shape, tp);
  int64_t has = machine.matrix.activationVectors;
  auto loaded = [&](const AxisLayout &axis) {
    return shape.tokens * axis.vectors();
  };
  int64_t widest = std::max(
      {loaded(rank.hidden), loaded(rank.allHeads), loaded(rank.allFfn)});
  if (widest > has) {
    return refuse("a row of activations", widest, "a plane", has);
  }
  int64_t scores =
      rank.kv.slotsIn(0) * rank.q.group() * shape.tokens * rank.tiles;
  if (scores > has) {
    return refuse("attention over " + std::to_string(shape.bucket) +
                      " positions",
                  scores, "a plane", has);
  }
  return Success{};
}

} // namespace orrery::partition
