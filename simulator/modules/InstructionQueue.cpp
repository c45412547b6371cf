#include "simulator/modules/InstructionQueue.h"

#include <algorithm>

namespace orrery::sim {

InstructionQueue::InstructionQueue(ChipClock &clock, Handler issue,
                                   Handler moment)
    : issue(std::move(issue)), moment(std::move(moment)) {
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
  return moments.empty() ? tick : std::min(tick, moments.top().tick);
}

void InstructionQueue::step(Tick now) {
  // Later moments of bursts under way, then instructions.
  while (!moments.empty() && moments.top().tick <= now) {
    uint32_t tag = moments.top().number;
    moments.pop();
    moment(tag, now);
  }
  for (; next < entries.size() && entries[next].tick <= now; ++next) {
    issue(entries[next].number, now);
  }
}

} // namespace orrery::sim
