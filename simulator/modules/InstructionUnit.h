// Stands for the instruction control unit (ICU), as far as it fetches: text of
// the queues from SRAM into their buffers (InstructionBuffers keeps the rules).
// Leaves out dispatch, `sync` and `notify`. Wakes at each fetch.
#pragma once

#include "simulator/modules/InstructionQueue.h"
#include "simulator/timing/UnitQueue.h"

namespace orrery::sim {

class InstructionUnit : public sc_core::sc_module {
public:
  InstructionUnit(sc_core::sc_module_name name, ChipClock &clock, Step &step);

  void add(uint32_t number) {
    queue.add(number, step.instruction(number).tick);
  }

private:
  void issue(uint32_t number, Tick now);

  Step &step;
  UnitQueue booked;
  InstructionQueue queue;
};

} // namespace orrery::sim
