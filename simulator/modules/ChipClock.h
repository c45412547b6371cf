// Stands for the chip's instruction control unit (ICU) and its clock: wakes
// each instruction queue when something is due in it. The only process of a
// chip; a process for each queue costs more, and to end thousands of them takes
// SystemC quadratic time. Time base: 1 tick = 1 ns of simulated time; the
// chip's tick 0 comes `start` ticks after the step's.
#pragma once

#include "machine/Geometry.h"
#include "simulator/modules/Simulation.h"

#include <queue>
#include <vector>

namespace orrery::sim {

class InstructionQueue;

class ChipClock : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(ChipClock);
  ChipClock(sc_core::sc_module_name name, Simulation &simulation, Tick start);

  /// Before the run.
  void add(InstructionQueue &queue) { queues.push_back(&queue); }

private:
  /// The next tick at which a queue, by its number, is due.
  struct Due {
    Tick tick;
    size_t queue;
    bool operator>(const Due &other) const {
      return tick != other.tick ? tick > other.tick : queue > other.queue;
    }
  };
  void before_end_of_elaboration() override;
  void step();
  void note(size_t queue);

  static sc_core::sc_time timeOf(Tick tick);
  Tick now() const;

  Simulation &simulation;
  Tick start;
  std::vector<InstructionQueue *> queues;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
};

} // namespace orrery::sim
