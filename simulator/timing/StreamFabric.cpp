#include "simulator/timing/StreamFabric.h"

#include <algorithm>
#include <cstdlib>

namespace orrery::sim {

std::string streamName(Direction direction, uint32_t stream) {
  return (direction == Direction::East ? "east " : "west ") +
         std::to_string(stream);
}

StreamFabric::StreamFabric(const Machine &machine)
    : streams(uint32_t(machine.streamsPerDirection)),
      lastPosition(machine.geometry().ofHost()), passages(2 * streams),
      stats(2 * streams) {}

void StreamFabric::checkStream(uint32_t stream, Tick due) const {
  if (stream >= streams) {
    throw Illegal(due, "stream " + std::to_string(stream) +
                           ", expected below " + std::to_string(streams));
  }
}

BurstSlot StreamFabric::newSlot(const DrivenBurst &burst, size_t width) {
  BurstSlot slot;
  if (freeSlots.empty()) {
    slot = BurstSlot(bursts.size());
    bursts.push_back(burst);
  } else {
    slot = freeSlots.back();
    freeSlots.pop_back();
    bursts[slot] = burst;
  }
  bursts[slot].streams = uint32_t(width);
  return slot;
}

BurstSlot StreamFabric::publish(const DrivenBurst &burst,
                                std::span<const Position> from, Tick now) {
  bool east = burst.direction == Direction::East;
  // No later vector can be on a diagonal below this one.
  Tick horizon = east ? now - lastPosition : now;
  if (!from.empty()) {
    checkStream(burst.firstStream + uint32_t(from.size()) - 1,
                passes(burst.direction, burst.diagonals.first, from[0]));
  }
  BurstSlot slot = newSlot(burst, from.size());
  uint64_t vectors = burst.diagonals.count();
  Passage p;
  p.slot = slot;
  p.first = burst.diagonals.first;
  p.last = burst.diagonals.last();
  for (size_t k = 0; k < from.size(); ++k) {
    uint32_t stream = burst.firstStream + uint32_t(k);
    p.low = east ? from[k] + 1 : burst.stop;
    p.high = east ? burst.stop : from[k] - 1;
    if (p.low > p.high || p.low < 0 || p.high > lastPosition) {
      throw Illegal(passes(burst.direction, p.first, from[k]),
                    "stop position " + std::to_string(burst.stop) +
                        " is not downstream of position " +
                        std::to_string(from[k]));
    }
    enter(burst, stream, from[k], p, horizon);
    StreamTotals &totals = stats[index(burst.direction, stream)];
    totals.vectors += vectors;
    totals.hops += vectors * uint64_t(std::abs(burst.stop - from[k]));
  }
  return slot;
}

void StreamFabric::enter(const DrivenBurst &burst, uint32_t stream,
                         Position from, const Passage &p, Tick horizon) {
  size_t at = index(burst.direction, stream);
  Passages &list = passages[at];
  size_t kept = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    Passage &other = list[i];
    if (other.last < horizon) {
      retire(other, stats[at]);
      continue;
    }
    if (other.first <= p.last && p.first <= other.last && other.low <= p.high &&
        p.low <= other.high &&
        meet(bursts[other.slot].diagonals, burst.diagonals)) {
      conflict(burst, stream, from, other);
    }
    if (kept != i) {
      list[kept] = other;
    }
    ++kept;
  }
  list.resize(kept);
  list.push_back(p);
}

TakenStream StreamFabric::take(Direction direction, uint32_t stream,
                               Position position, const BurstTicks &ticks) {
  checkStream(stream, ticks.first);
  BurstTicks diagonals{diagonal(direction, ticks.first, position), ticks.shape};
  for (Passage &p : passages[index(direction, stream)]) {
    if (position < p.low || position > p.high || diagonals.first < p.first ||
        diagonals.first > p.last) {
      continue;
    }
    const DrivenBurst &giver = bursts[p.slot];
    std::optional<uint64_t> start = giver.diagonals.vectorAt(diagonals.first);
    if (!start) {
      continue; // two interleaved bursts may share an interval
    }
    if (auto miss = firstMiss(giver.diagonals, *start, diagonals)) {
      throw Illegal(ticks.at(*miss),
                    "stream " + streamName(direction, stream) +
                        " at position " + std::to_string(position) +
                        ": vector " + std::to_string(*miss) +
                        " of the burst does not come in its cycle from "
                        "instruction " +
                        std::to_string(giver.instruction));
    }
    markTaken(p, *start, diagonals.count());
    return {p.slot, stream - giver.firstStream, *start};
  }
  nothingThere(direction, stream, position, ticks);
}

void StreamFabric::markTaken(Passage &p, uint64_t first, uint64_t count) {
  uint64_t end = first + count;
  if (p.takenLow == p.takenHigh) {
    p.takenLow = first;
    p.takenHigh = end;
  } else if (first <= p.takenHigh && end >= p.takenLow && p.more == kNoMore) {
    p.takenLow = std::min(p.takenLow, first);
    p.takenHigh = std::max(p.takenHigh, end);
  } else {
    if (p.more == kNoMore) {
      p.more = uint32_t(moreTaken.size());
      moreTaken.emplace_back();
    }
    moreTaken[p.more].emplace_back(first, end);
  }
}

uint64_t StreamFabric::countTaken(const Passage &p) {
  if (p.more == kNoMore) {
    return p.takenHigh - p.takenLow;
  }
  Ranges &ranges = moreTaken[p.more];
  ranges.emplace_back(p.takenLow, p.takenHigh);
  std::sort(ranges.begin(), ranges.end());
  uint64_t taken = 0, end = 0;
  for (auto [low, high] : ranges) {
    low = std::max(low, end);
    taken += high > low ? high - low : 0;
    end = std::max(end, high);
  }
  return taken;
}

void StreamFabric::retire(Passage &p, StreamTotals &totals) {
  DrivenBurst &burst = bursts[p.slot];
  uint64_t taken = countTaken(p);
  uint64_t dropped = burst.diagonals.count() - taken;
  totals.dropped += dropped;
  if (burst.fromSram) {
    takenFromSram += taken;
    droppedFromSram += dropped;
  }
  if (--burst.streams == 0) {
    freeSlots.push_back(p.slot);
  }
}

void StreamFabric::finish() {
  for (size_t i = 0; i < passages.size(); ++i) {
    for (Passage &p : passages[i]) {
      retire(p, stats[i]);
    }
    passages[i].clear();
  }
}

void StreamFabric::conflict(const DrivenBurst &burst, uint32_t stream,
                            Position from, const Passage &other) const {
  throw Illegal(passes(burst.direction, burst.diagonals.first, from),
                "stream " + streamName(burst.direction, stream) +
                    " from position " + std::to_string(from) +
                    " carries vectors of instruction " +
                    std::to_string(bursts[other.slot].instruction) +
                    " (positions " + std::to_string(other.low) + " to " +
                    std::to_string(other.high) + ") on the same diagonal");
}

void StreamFabric::nothingThere(Direction direction, uint32_t stream,
                                Position position,
                                const BurstTicks &ticks) const {
  std::string where = "stream " + streamName(direction, stream) +
                      " at position " + std::to_string(position) + ": ";
  Tick wanted = diagonal(direction, ticks.first, position);
  const Passage *nearest = nullptr;
  Tick distance = 0;
  for (const Passage &p : passages[index(direction, stream)]) {
    if (position < p.low || position > p.high) {
      continue;
    }
    Tick apart = p.first - wanted;
    if (nearest == nullptr || std::abs(apart) < std::abs(distance)) {
      nearest = &p;
      distance = apart;
    }
  }
  if (nearest == nullptr) {
    throw Illegal(ticks.first, where + "expected a vector, found nothing");
  }
  throw Illegal(ticks.first,
                where +
                    "expected a vector, found nothing; vector 0 of "
                    "instruction " +
                    std::to_string(bursts[nearest->slot].instruction) +
                    " passes " + std::to_string(std::abs(distance)) +
                    (distance > 0 ? " cycles later" : " cycles earlier"));
}

} // namespace orrery::sim
