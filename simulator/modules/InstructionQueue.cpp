#include "simulator/modules/InstructionQueue.h"

#include <algorithm>

namespace orrery::sim {

InstructionQueue::InstructionQueue(ChipClock &clock, Step &shared,
                                   Handler issue, Handler moment)
    : shared(shared), issue(std::move(issue)), moment(std::move(moment)) {
  clock.add(*this);
}

void InstructionQueue::begin() {
  auto comesBefore = [](const Entry &a, const Entry &b) {
    return a.tick != b.tick ? a.tick < b.tick : a.number < b.number;
  };
  if (!std::is_sorted(entries.begin(), entries.end(), comesBefore)) {
    std::sort(entries.begin(), entries.end(), comesBefore);
  }
}

Tick InstructionQueue::due() const {
  Tick tick = next < entries.size() ? entries[next].tick : kNever;
  tick = moments.empty() ? tick : std::min(tick, moments.top().tick);
  return open.empty() ? tick : std::min(tick, open.top().tick);
}

/// The instruction leaves the buffers of its queues.
void InstructionQueue::take(uint32_t number, Tick now) {
  shared.checked(number, [&] {
    if (auto later = shared.buffers.issue(number, now)) {
      open.push({*later, number});
    }
  });
}

void InstructionQueue::lookAgain(uint32_t number, Tick now) {
  shared.checked(number, [&] {
    if (auto later = shared.buffers.checkAgain(number, now)) {
      open.push({*later, number});
    }
  });
}

void InstructionQueue::step(Tick now) {
  // Later moments of bursts under way, then instructions.
  while (!moments.empty() && moments.top().tick <= now) {
    uint32_t tag = moments.top().number;
    moments.pop();
    moment(tag, now);
  }
  while (!open.empty() && open.top().tick <= now) {
    uint32_t number = open.top().number;
    open.pop();
    lookAgain(number, now);
  }
  for (; next < entries.size() && entries[next].tick <= now; ++next) {
    take(entries[next].number, now);
    issue(entries[next].number, now);
  }
}

} // namespace orrery::sim
