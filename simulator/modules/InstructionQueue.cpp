#include "simulator/modules/InstructionQueue.h"

#include <algorithm>

namespace orrery::sim {
namespace {

/// Units of SystemC's default resolution, 1 ps, in a tick.
constexpr uint64_t kUnitsPerTick = 1000;

} // namespace

InstructionQueue::InstructionQueue(sc_core::sc_module_name name,
                                   Simulation &simulation, Handler issue,
                                   Handler moment)
    : sc_module(name), simulation(simulation), issue(std::move(issue)),
      moment(std::move(moment)) {
  SC_METHOD(step);
}

void InstructionQueue::before_end_of_elaboration() {
  auto comesBefore = [](const Entry &a, const Entry &b) {
    return a.tick != b.tick ? a.tick < b.tick : a.number < b.number;
  };
  if (!std::is_sorted(entries.begin(), entries.end(), comesBefore)) {
    std::sort(entries.begin(), entries.end(), comesBefore);
  }
}

sc_core::sc_time InstructionQueue::timeOf(Tick tick) {
  return sc_core::sc_time::from_value(uint64_t(tick) * kUnitsPerTick);
}

Tick InstructionQueue::now() {
  return Tick(sc_core::sc_time_stamp().value() / kUnitsPerTick);
}

void InstructionQueue::step() {
  simulation.guard([&] {
    // 1. What is due: later moments of bursts under way, then instructions.
    Tick tick = now();
    while (!moments.empty() && moments.top().tick <= tick) {
      uint32_t tag = moments.top().number;
      moments.pop();
      moment(tag, tick);
    }
    for (; next < entries.size() && entries[next].tick <= tick; ++next) {
      issue(entries[next].number, tick);
    }
    // 2. Notify the next due tick.
    Tick due = INT64_MAX;
    due = next < entries.size() ? entries[next].tick : due;
    due = moments.empty() ? due : std::min(due, moments.top().tick);
    if (due != INT64_MAX) {
      next_trigger(timeOf(std::max<Tick>(due - tick, 0)));
    }
  });
}

} // namespace orrery::sim
