#include "simulator/modules/ChipClock.h"

#include "simulator/modules/InstructionQueue.h"

#include <algorithm>

namespace orrery::sim {
namespace {

/// Units of SystemC's default resolution, 1 ps, in a tick.
constexpr uint64_t kUnitsPerTick = 1000;

} // namespace

ChipClock::ChipClock(sc_core::sc_module_name name, Simulation &simulation,
                     Tick start)
    : sc_module(name), simulation(simulation), start(start) {
  SC_METHOD(step);
}

void ChipClock::before_end_of_elaboration() {
  for (size_t q = 0; q < queues.size(); ++q) {
    queues[q]->begin();
    note(q);
  }
}

void ChipClock::note(size_t queue) {
  Tick tick = queues[queue]->due();
  if (tick != InstructionQueue::kNever) {
    due.push({tick, queue});
  }
}

sc_core::sc_time ChipClock::timeOf(Tick tick) {
  return sc_core::sc_time::from_value(uint64_t(tick) * kUnitsPerTick);
}

/// Before the chip's start it is negative.
Tick ChipClock::now() const {
  return Tick(sc_core::sc_time_stamp().value() / kUnitsPerTick) - start;
}

void ChipClock::step() {
  simulation.guard([&] {
    // 1. What is due, queue by queue.
    Tick tick = now();
    while (!due.empty() && due.top().tick <= tick) {
      size_t queue = due.top().queue;
      due.pop();
      queues[queue]->step(tick);
      note(queue);
    }
    // 2. Notify the next due tick.
    if (!due.empty()) {
      next_trigger(timeOf(due.top().tick - tick));
    }
  });
}

} // namespace orrery::sim
