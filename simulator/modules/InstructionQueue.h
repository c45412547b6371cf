// Stands for the instruction queues of a unit in the ICU: it wakes the unit in
// the cycle of its next instruction, and at later moments of a burst that the
// unit asks for. Leaves out the fetch of program text from SRAM.
// Time base: 1 tick = 1 ns of simulated time.
#pragma once

#include "machine/Geometry.h"
#include "simulator/modules/Simulation.h"

#include <queue>
#include <vector>

namespace orrery::sim {

class InstructionQueue : public sc_core::sc_module {
public:
  /// Called in the cycle `now`; the number is an instruction's, or the tag of
  /// a moment.
  using Handler = std::function<void(uint32_t number, Tick now)>;

  SC_HAS_PROCESS(InstructionQueue);
  InstructionQueue(sc_core::sc_module_name name, Simulation &simulation,
                   Handler issue, Handler moment);

  /// Before the run: instruction `number` is due at `tick`.
  void add(uint32_t number, Tick tick) { entries.push_back({tick, number}); }
  /// During the run: wake the unit at `tick` >= now, before instructions.
  void wakeAt(Tick tick, uint32_t tag) { moments.push({tick, tag}); }

private:
  struct Entry {
    Tick tick;
    uint32_t number;
    bool operator>(const Entry &other) const { return tick > other.tick; }
  };
  void before_end_of_elaboration() override;
  void step();

  static sc_core::sc_time timeOf(Tick tick);
  static Tick now();

  Simulation &simulation;
  Handler issue, moment;
  std::vector<Entry> entries; ///< sorted by tick before the run
  size_t next = 0;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> moments;
};

} // namespace orrery::sim
