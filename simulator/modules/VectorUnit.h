// Stands for the vector unit (VXM): ALUs chained into programs over f32 lanes.
// Leaves out which ALU runs which step. Wakes at each instruction; values are
// computed when a consumer needs them.
#pragma once

#include "simulator/modules/InstructionQueue.h"
#include "simulator/modules/Step.h"
#include "simulator/timing/UnitQueue.h"

namespace orrery::sim {

class VectorUnit : public sc_core::sc_module {
public:
  VectorUnit(sc_core::sc_module_name name, ChipClock &clock, Step &step);

  void add(uint32_t number) {
    queue.add(number, step.instruction(number).tick);
  }

private:
  void issue(uint32_t number, Tick now);
  void check(const VectorOp &op, Tick now) const;
  void drive(const VectorOp &op, const VectorProgram &program, uint32_t number,
             const BurstTicks &ticks, std::vector<Operands> inputs);

  Step &step;
  UnitQueue booked;
  InstructionQueue queue;
};

} // namespace orrery::sim
