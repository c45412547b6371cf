// Arithmetic on the times of bursts, without expanding their vectors.
#pragma once

#include "machine/Instruction.h"

#include <optional>
#include <vector>

namespace orrery::check {

/// `length` ticks or diagonals: first, first + stride, ...
struct Run {
  Tick first;
  Tick stride; ///< at least 1
  int64_t length;

  Tick last() const { return first + stride * (length - 1); }
  bool contains(Tick t) const {
    return t >= first && t <= last() && (t - first) % stride == 0;
  }
};

/// The same times in as few runs as the shape allows.
BurstShape normalised(BurstShape shape);

/// The runs of a normalised or raw shape that starts at `first`.
std::vector<Run> runsOf(const BurstShape &shape, Tick first);

/// The earliest time in both.
std::optional<Tick> firstCommon(const Run &a, const Run &b);

/// The first i < b.count() at which b.at(i) is not a.at(offset + i) -
/// a.at(offset), or at which `a` has no vector offset + i. O(runs).
std::optional<uint64_t> firstDifference(const BurstShape &a, uint64_t offset,
                                        const BurstShape &b);

} // namespace orrery::check
