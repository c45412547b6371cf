#include "simulator/modules/InstructionUnit.h"

namespace orrery::sim {

InstructionUnit::InstructionUnit(sc_core::sc_module_name name, ChipClock &clock,
                                 Step &step)
    : sc_module(name), step(step),
      queue(
          clock, step,
          [this](uint32_t number, Tick now) {
            this->step.checked(number, [&] { issue(number, now); });
          },
          nullptr) {}

void InstructionUnit::issue(uint32_t number, Tick now) {
  // 1. and 2. The fetch that is due, and whether it may be issued.
  const auto &op = step.op<FetchOp>(number);
  auto vectors = uint32_t(step.machine.fetchVectors);
  BurstTicks ticks = ticksOf(now, {vectors, 1, 1, 0});
  booked.book(ticks.first, ticks.last(), number, now);
  Tick arrival = step.buffers.fetch(op, now);
  step.ports.bookFetch(op.slice, op.bank, ticks, number, now);
  // 4. Book: bytes read are bytes that a queue takes.
  uint64_t bytes = uint64_t(vectors) * uint64_t(step.machine.lanes);
  step.result.counters.slices[op.slice].bytesRead += bytes;
  step.result.counters.fetchedBytes += bytes;
  step.book(step.units.fetch(), number, vectors, ticks.first, ticks.last(),
            vectors);
  step.done(number, now, arrival, ticks.last() + 1);
}

} // namespace orrery::sim
