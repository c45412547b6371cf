// The stream register files as a rule: which burst is on which stream, where
// and when. Knows diagonals and positions, no values.
#pragma once

#include "machine/Machine.h"
#include "simulator/timing/BurstTicks.h"
#include "simulator/timing/Illegal.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery::sim {

/// Slot of a live burst. Slots are used again once a burst has passed.
using BurstSlot = uint32_t;

/// One instruction's output put on the streams.
struct DrivenBurst {
  Direction direction = Direction::East;
  uint8_t firstStream = 0;
  BurstTicks diagonals;
  Position stop = 0;
  uint32_t instruction = 0;
  bool fromSram = false;
  uint32_t streams = 0; ///< how many are still on the way
};

/// What a consumer found: vector i of its burst is vector `vector` + i of
/// stream `stream` of the burst in `slot`.
struct TakenStream {
  BurstSlot slot = 0;
  uint32_t stream = 0;
  uint64_t vector = 0;
};

/// Vectors driven on one stream and how far.
struct StreamTotals {
  uint64_t vectors = 0;
  uint64_t hops = 0;    ///< positions moved, summed over vectors
  uint64_t dropped = 0; ///< vectors nobody took
};

class StreamFabric {
public:
  explicit StreamFabric(const Machine &machine);

  /// Puts a burst on streams firstStream .. + from.size() - 1, stream k driven
  /// from position from[k], all on the same diagonals. Conflicts: Illegal.
  BurstSlot publish(const DrivenBurst &burst, std::span<const Position> from,
                    Tick now);

  /// What a consumer at `position` finds in the cycles `ticks` on a stream.
  /// Not the right vectors of one burst, every one in its cycle: Illegal.
  TakenStream take(Direction direction, uint32_t stream, Position position,
                   const BurstTicks &ticks);

  const DrivenBurst &burst(BurstSlot slot) const { return bursts[slot]; }

  /// Ends the step: whatever was never taken counts as dropped.
  void finish();
  const StreamTotals &totals(Direction direction, uint32_t stream) const {
    return stats[index(direction, stream)];
  }
  /// Vectors read from SRAM that a consumer took, and those nobody took.
  uint64_t sramTaken() const { return takenFromSram; }
  uint64_t sramDropped() const { return droppedFromSram; }

private:
  static constexpr uint32_t kNoMore = UINT32_MAX;
  /// A burst on one stream.
  struct Passage {
    BurstSlot slot = 0;
    Tick first = 0, last = 0;   ///< diagonals
    Position low = 0, high = 0; ///< positions it passes, in ascending order
    /// Vectors taken, in nearly all cases one range; `more` says where in
    /// `moreTaken` others are.
    uint64_t takenLow = 0, takenHigh = 0;
    uint32_t more = kNoMore;
  };
  using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;
  using Passages = std::vector<Passage>;

  size_t index(Direction direction, uint32_t stream) const {
    return size_t(direction) * streams + stream;
  }
  void checkStream(uint32_t stream, Tick due) const;
  BurstSlot newSlot(const DrivenBurst &burst, size_t width);
  /// One stream of `burst`. Passages that ended below `horizon` make room.
  void enter(const DrivenBurst &burst, uint32_t stream, Position from,
             const Passage &passage, Tick horizon);
  void retire(Passage &passage, StreamTotals &totals);
  void markTaken(Passage &passage, uint64_t first, uint64_t count);
  uint64_t countTaken(const Passage &passage);
  [[noreturn]] void conflict(const DrivenBurst &burst, uint32_t stream,
                             Position from, const Passage &other) const;
  [[noreturn]] void nothingThere(Direction direction, uint32_t stream,
                                 Position position,
                                 const BurstTicks &ticks) const;

  uint32_t streams;
  Position lastPosition;
  std::vector<Passages> passages; ///< by index()
  std::vector<StreamTotals> stats;
  std::vector<DrivenBurst> bursts;
  std::vector<BurstSlot> freeSlots;
  std::vector<Ranges> moreTaken;
  uint64_t takenFromSram = 0, droppedFromSram = 0;
};

/// "east 4".
std::string streamName(Direction direction, uint32_t stream);

} // namespace orrery::sim
