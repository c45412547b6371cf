#include "simulator/timing/InstructionBuffers.h"

#include "machine/Encoding.h"

#include <algorithm>

namespace orrery::sim {

InstructionBuffers::InstructionBuffers(const Program &program,
                                       const Machine &machine)
    : machine(machine), held(heldChunks(machine)), places(program, machine) {
  for (const QueueText &text : queueTexts(program, machine)) {
    if (text.chunks <= held) {
      continue;
    }
    auto queue = uint32_t(queues.size());
    queues.push_back({text.queue, text.firstChunk, text.chunks, {}, {}});
    for (const TextEntry &e : text.entries) {
      copies.push_back({e.instruction, queue, e.tick, e.end});
    }
  }
  std::ranges::sort(copies, [](const Copy &a, const Copy &b) {
    return std::pair(a.instruction, a.queue) <
           std::pair(b.instruction, b.queue);
  });
}

std::optional<Tick> InstructionBuffers::issue(uint32_t number, Tick now) {
  for (const Copy &copy :
       std::ranges::equal_range(copies, number, {}, &Copy::instruction)) {
    queues[copy.queue].issued.push_back({copy.tick, copy.end});
  }
  return checkAgain(number, now);
}

std::optional<Tick> InstructionBuffers::checkAgain(uint32_t number,
                                                   Tick now) const {
  std::optional<Tick> again;
  for (const Copy &copy :
       std::ranges::equal_range(copies, number, {}, &Copy::instruction)) {
    auto later = check(copy, now);
    if (later && (!again || *later < *again)) {
      again = later;
    }
  }
  return again;
}

/// A fetch that is in time has been issued before the cycle it is for.
std::optional<Tick> InstructionBuffers::check(const Copy &copy,
                                              Tick now) const {
  const Queue &queue = queues[copy.queue];
  Bytes chunk = machine.fetchBytes();
  int64_t last = (copy.end - 1) / chunk;
  auto there = [&](int64_t c) {
    return c < held || (c - held < int64_t(queue.arrivals.size()) &&
                        queue.arrivals[size_t(c - held)] <= copy.tick);
  };
  if (there(last)) {
    return std::nullopt;
  }
  if (copy.tick > now) {
    return copy.tick;
  }
  int64_t have = last;
  while (!there(have - 1)) {
    --have;
  }
  throw Illegal(copy.tick,
                queueName(queue.id) + " is dry: the instruction ends at byte " +
                    std::to_string(copy.end) + " of its text, found " +
                    std::to_string(have * chunk) + " bytes fetched");
}

InstructionBuffers::Queue *InstructionBuffers::find(QueueId id) {
  auto at = std::ranges::lower_bound(queues, id, {}, &Queue::id);
  return at != queues.end() && at->id == id ? &*at : nullptr;
}

Tick InstructionBuffers::fetch(const FetchOp &op, Tick now) {
  std::string name = queueName(op.target);
  Queue *queue = find(op.target);
  int64_t chunk = queue ? held + int64_t(queue->arrivals.size()) : 0;
  if (!queue || chunk >= queue->chunks) {
    throw Illegal(now, "a fetch past the end of the text of " + name);
  }
  int64_t number = queue->firstChunk + chunk;
  if (number >= places.count()) {
    throw Illegal(now, "the regions of the text hold " +
                           std::to_string(places.count()) +
                           " chunks, found chunk " + std::to_string(number) +
                           " of " + name);
  }
  ChunkPlace found{op.slice, op.bank, op.address};
  if (found != places[number]) {
    throw Illegal(now, "the next chunk of " + name + " is at " +
                           placeName(places[number]) + ", found " +
                           placeName(found));
  }
  std::erase_if(queue->issued, [&](const Issued &i) {
    if (i.tick < now) {
      queue->gone = std::max(queue->gone, i.end);
    }
    return i.tick < now;
  });
  Bytes full = (chunk + 1) * machine.fetchBytes() - queue->gone;
  if (full > machine.queueBytes) {
    throw Illegal(now, "the buffer of " + name + " holds " +
                           std::to_string(machine.queueBytes) +
                           " bytes, found " + std::to_string(full) +
                           " with this fetch");
  }
  // Its last vector is read fetchVectors - 1 later.
  Tick arrival = now + machine.fetchVectors - 1 + machine.timing.fetch;
  queue->arrivals.push_back(arrival);
  return arrival;
}

} // namespace orrery::sim
