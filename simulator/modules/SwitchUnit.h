// Stands for one switch unit (SXM): lane permutations and the transposing of
// token vectors. Leaves out how many of its sub-units a permutation needs.
#pragma once

#include "simulator/modules/InstructionQueue.h"
#include "simulator/modules/Step.h"
#include "simulator/timing/UnitQueue.h"

namespace orrery::sim {

class SwitchUnit : public sc_core::sc_module {
public:
  SwitchUnit(sc_core::sc_module_name name, ChipClock &clock, Step &step,
             int32_t sxm);

  void add(uint32_t number) {
    queue.add(number, step.instruction(number).tick);
  }

private:
  void issue(uint32_t number, Tick now);
  void check(const PermuteOp &op, Tick now) const;

  Step &step;
  int32_t sxm;
  UnitQueue booked;
  InstructionQueue queue;
};

} // namespace orrery::sim
