#include "simulator/report/Waits.h"

#include <algorithm>
#include <utility>

namespace orrery::sim {
namespace {

uint64_t &waitsFor(const Operation &operation, Counters &counters) {
  const auto *receive = std::get_if<ReceiveOp>(&operation);
  if (receive == nullptr) {
    return counters.otherWaitTicks;
  }
  return receive->link == kHostLink
             ? counters.hostWaitTicks
             : counters.links[size_t(receive->link) - 1].waitTicks;
}

} // namespace

void countWaits(const Program &program, StepResult &result) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < program.instructions.size(); ++i) {
    if (!std::holds_alternative<FetchOp>(program.instructions[i].operation)) {
      order.push_back(i);
    }
  }
  auto comesBefore = [&](uint32_t a, uint32_t b) {
    return std::pair(result.executed[a], a) < std::pair(result.executed[b], b);
  };
  if (!std::is_sorted(order.begin(), order.end(), comesBefore)) {
    std::sort(order.begin(), order.end(), comesBefore);
  }
  Tick free = 0;
  for (uint32_t i : order) {
    if (result.executed[i] > free) {
      waitsFor(program.instructions[i].operation, result.counters) +=
          uint64_t(result.executed[i] - free);
    }
    free = std::max(free, result.completed[i]);
  }
}

} // namespace orrery::sim
