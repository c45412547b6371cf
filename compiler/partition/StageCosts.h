// Bytes and ticks of any run of a model's sublayers, each costed once.
#pragma once

#include "compiler/partition/Partition.h"

namespace orrery::partition {

class StageCosts {
public:
  StageCosts(const Machine &machine, const StepShape &shape, int64_t tp,
             bool ring);

  /// Sublayers dealt to `pp` stages, 1 .. sublayers; KV caches for `users`.
  Deal deal(int64_t pp, int64_t users) const;

private:
  StagePlan stage(int64_t first, int64_t count, bool last, int64_t users) const;
  Deal dealWithLast(int64_t pp, int64_t last, int64_t users) const;

  const Machine &machine;
  int64_t sublayers;
  // Sums over sublayers [0, i).
  std::vector<StageBytes> bytesBefore;
  std::vector<StageTicks> ticksBefore;
  StageBytes fixedBytes, headBytes;
  StageTicks embedding, head, between;
};

} // namespace orrery::partition
