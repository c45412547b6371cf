// Stands for an instruction queue of a unit in the ICU: it wakes the unit in
// the cycle of its next instruction, which must be in the queue's buffer then
// (InstructionBuffers), and at later moments of a burst that the unit asks for.
#pragma once

#include "simulator/modules/ChipClock.h"
#include "simulator/modules/Step.h"

#include <functional>
#include <queue>
#include <vector>

namespace orrery::sim {

class InstructionQueue {
public:
  static constexpr Tick kNever = INT64_MAX;
  /// Called in the cycle `now`; the number is an instruction's, or the tag of
  /// a moment.
  using Handler = std::function<void(uint32_t number, Tick now)>;

  InstructionQueue(ChipClock &clock, Step &shared, Handler issue,
                   Handler moment);
  InstructionQueue(const InstructionQueue &) = delete; ///< the clock knows it
  InstructionQueue &operator=(const InstructionQueue &) = delete;

  /// Before the run: instruction `number` is due at `tick`.
  void add(uint32_t number, Tick tick) { entries.push_back({tick, number}); }
  /// While the unit is awake: wake it at `tick` >= now, before instructions.
  void wakeAt(Tick tick, uint32_t tag) { moments.push({tick, tag}); }

  /// For the clock: all instructions are there.
  void begin();
  /// For the clock: when something is due next.
  Tick due() const;
  /// For the clock: wakes the unit for all that is due by now.
  void step(Tick now);

private:
  struct Entry {
    Tick tick;
    uint32_t number;
    bool operator>(const Entry &other) const { return tick > other.tick; }
  };

  using Later = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
  void take(uint32_t number, Tick now);
  void lookAgain(uint32_t number, Tick now);

  Step &shared;
  Handler issue, moment;
  std::vector<Entry> entries; ///< sorted by tick before the run
  size_t next = 0;
  Later moments;
  Later open; ///< wide instructions whose queues were not all looked at yet
};

} // namespace orrery::sim
