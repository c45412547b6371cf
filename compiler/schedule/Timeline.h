// Occupied stretches of time of one resource, or of one stream on its
// diagonals, with quick conflict queries.
#pragma once

#include "machine/Instruction.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace orrery::schedule {

/// [begin, end) in ticks (diagonals for a stream), positions [low, high].
struct Span {
  Tick begin, end;
  Position low = 0, high = 0;
};

/// Calls `visit(begin, end)` for each maximal stretch of a burst's vectors;
/// vectors with gaps (stride > 1) count as one stretch. Stops when it is false.
template <class Visit>
bool forEachStretch(const BurstShape &shape, Tick start, Visit visit) {
  Tick run = Tick(shape.length - 1) * shape.stride + 1;
  if (shape.runs == 1 || Tick(shape.period) <= run) {
    return visit(start, start + Tick(shape.runs - 1) * shape.period + run);
  }
  for (uint32_t r = 0; r < shape.runs; ++r) {
    Tick at = start + Tick(r) * shape.period;
    if (!visit(at, at + run)) {
      return false;
    }
  }
  return true;
}

/// Spans hashed by coarse time, so that a query looks only at its neighbours.
class Timeline {
public:
  void add(const Span &span) {
    for (Tick k = span.begin >> kShift; k <= (span.end - 1) >> kShift; ++k) {
      buckets[k].push_back(span);
    }
  }
  /// How far `span` must move to clear the first span it meets, if any.
  std::optional<Tick> conflict(const Span &span) const {
    for (Tick k = span.begin >> kShift; k <= (span.end - 1) >> kShift; ++k) {
      auto found = buckets.find(k);
      if (found == buckets.end()) {
        continue;
      }
      for (const Span &other : found->second) {
        if (other.begin < span.end && span.begin < other.end &&
            other.low <= span.high && span.low <= other.high) {
          return other.end - span.begin;
        }
      }
    }
    return std::nullopt;
  }

private:
  static constexpr int kShift = 8;
  std::unordered_map<Tick, std::vector<Span>> buckets;
};

} // namespace orrery::schedule
