#include "compiler/schedule/LinkHazards.h"

#include "machine/Timing.h"

#include <algorithm>

namespace orrery::schedule {

// The tick after which `vectors` more fit the receiver's buffer.
Tick LinkHazards::roomFor(const LinkBooks &link, uint64_t vectors) const {
  auto room = uint64_t(problem.machine->link.bufferVectors);
  uint64_t after = link.sent + vectors;
  if (after <= room) {
    return 0;
  }
  auto enough = std::ranges::find_if(link.received, [&](const Received &r) {
    return r.vectors >= after - room;
  });
  return enough == link.received.end() ? kNever : enough->tick + 1;
}

Tick LinkHazards::earliest(const Gang &gang) const {
  static const LinkBooks kQuiet;
  auto booksOf = [&](LinkNumber link) -> const LinkBooks & {
    auto found = links.find(link);
    return found == links.end() ? kQuiet : found->second;
  };
  Tick start = 0;
  std::map<LinkNumber, uint64_t> sending, receiving;
  for (const Member &member : gang.members) {
    if (auto *op = std::get_if<SendOp>(&member.operation)) {
      const LinkBooks &link = booksOf(op->link);
      start = std::max(start, link.sentUntil - member.offset);
      uint64_t &vectors = sending[op->link];
      vectors += op->shape.count() * op->width;
      if (isMirrored(op->link) && !operandsOnly) {
        start = std::max(start, roomFor(link, vectors) - member.offset);
      }
    } else if (auto *op = std::get_if<ReceiveOp>(&member.operation)) {
      const LinkBooks &link = booksOf(op->link);
      start = std::max(start, link.receivedUntil - member.offset);
      if (!isMirrored(op->link)) {
        continue;
      }
      uint64_t burst = receiving[op->link]++;
      if (burst >= link.arriving.size()) {
        return kNever;
      }
      const std::vector<Tick> &arrived = link.arriving[burst];
      for (uint64_t i = 0; i < arrived.size(); ++i) {
        start = std::max(start, arrived[i] - op->shape.at(i) - member.offset);
      }
    }
  }
  return start;
}

void LinkHazards::commit(const Gang &gang, Tick start) {
  for (const Member &member : gang.members) {
    Tick tick = start + member.offset;
    if (auto *op = std::get_if<SendOp>(&member.operation)) {
      LinkBooks &link = links[op->link];
      link.sentUntil = tick + op->shape.span() + op->shape.stride;
      if (isMirrored(op->link)) {
        LinkCrossing crossing =
            crossLink(*problem.machine, tick, op->shape, op->width, link.free);
        link.free = crossing.linkFree;
        link.sent += op->shape.count() * op->width;
        link.arriving.push_back(std::move(crossing.arrived));
      }
    } else if (auto *op = std::get_if<ReceiveOp>(&member.operation)) {
      LinkBooks &link = links[op->link];
      link.receivedUntil = tick + op->shape.span() + op->shape.stride;
      if (isMirrored(op->link)) {
        uint64_t before =
            link.received.empty() ? 0 : link.received.back().vectors;
        link.received.push_back(
            {tick + op->shape.span(), before + op->shape.count() * op->width});
        link.arriving.pop_front();
      }
    }
  }
}

} // namespace orrery::schedule
