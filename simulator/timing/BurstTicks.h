// The set of ticks (or diagonals) of a burst's vectors, and the two questions
// the rules ask about such sets: do they meet, and does one continue another.
#pragma once

#include "machine/Instruction.h"

#include <optional>

namespace orrery::sim {

/// Vector n is at first + shape.at(n). Strictly increasing.
struct BurstTicks {
  Tick first = 0;
  BurstShape shape;

  uint64_t count() const { return shape.count(); }
  Tick at(uint64_t vector) const {
    return shape.runs == 1 ? first + Tick(vector) * shape.stride
                           : first + shape.at(vector);
  }
  /// BurstShape::span without its divisions.
  Tick span() const {
    return (Tick(shape.runs) - 1) * shape.period +
           (Tick(shape.length) - 1) * shape.stride;
  }
  Tick last() const { return first + span(); }
  BurstTicks shifted(Tick by) const { return {first + by, shape}; }

  /// The vector that comes exactly at `tick`.
  std::optional<uint64_t> vectorAt(Tick tick) const;
  /// Vectors that come before `tick`.
  uint64_t countBefore(Tick tick) const;
};

/// Whether the vectors of a shape have increasing times at all.
bool isWellFormed(const BurstShape &shape);
/// The same times written with as few runs as possible, so that equal bursts
/// compare equal whatever their makers called a run.
BurstShape canonical(const BurstShape &shape);
inline BurstTicks ticksOf(Tick first, const BurstShape &shape) {
  return {first, canonical(shape)};
}

/// Whether two bursts share a tick.
bool meet(const BurstTicks &a, const BurstTicks &b);
/// Index of the first vector i of `taker` that does not come with vector
/// start + i of `giver`; nothing when the whole burst does.
std::optional<uint64_t> firstMiss(const BurstTicks &giver, uint64_t start,
                                  const BurstTicks &taker);

} // namespace orrery::sim
