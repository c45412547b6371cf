#include "compiler/schedule/VerifyLinks.h"

#include <algorithm>
#include <map>

namespace orrery::schedule {

namespace {

struct Burst {
  Tick tick;
  BurstShape shape;
  uint32_t width;
};

struct Traffic {
  std::vector<Burst> sent, received;
};

Error wrong(LinkNumber link, size_t number, const std::string &what) {
  return {"link " + std::to_string(link) + ", burst " + std::to_string(number) +
          ": " + what};
}

// A link keeps the order of ticks; the program's order says what is meant.
Status verifyOrder(LinkNumber number, const std::vector<Burst> &bursts) {
  for (size_t k = 1; k < bursts.size(); ++k) {
    if (bursts[k].tick <= bursts[k - 1].tick + bursts[k - 1].shape.span()) {
      return wrong(
          number, k,
          "at " + std::to_string(bursts[k].tick) +
              ", before the one before it ends at " +
              std::to_string(bursts[k - 1].tick + bursts[k - 1].shape.span()));
    }
  }
  return Success{};
}

Status verifyArrivals(const Machine &m, LinkNumber number,
                      const Traffic &traffic) {
  Tick quiet = 0;
  for (size_t k = 0; k < traffic.received.size(); ++k) {
    const Burst &out = traffic.sent[k], &in = traffic.received[k];
    if (out.shape.count() != in.shape.count() || out.width != in.width) {
      return wrong(number, k,
                   "sent " + std::to_string(out.shape.count()) + " x " +
                       std::to_string(out.width) + " vectors at " +
                       std::to_string(out.tick) + ", received " +
                       std::to_string(in.shape.count()) + " x " +
                       std::to_string(in.width) + " at " +
                       std::to_string(in.tick));
    }
    for (uint64_t i = 0; i < in.shape.count(); ++i) {
      quiet = std::max(quiet, out.tick + out.shape.at(i)) +
              Tick(out.width) * m.link.vectorTicks;
      Tick due = in.tick + in.shape.at(i);
      if (due < quiet + m.link.latency) {
        return wrong(number, k,
                     "vector " + std::to_string(i) + " is received at " +
                         std::to_string(due) + " and arrives at " +
                         std::to_string(quiet + m.link.latency));
      }
    }
  }
  return Success{};
}

// Sends and receives of one link by tick; receives of a tick make room for the
// next tick's sends only.
Status verifyRoom(const Machine &m, LinkNumber number, const Traffic &traffic) {
  std::map<Tick, int64_t> change;
  for (const Burst &b : traffic.sent) {
    for (uint64_t i = 0; i < b.shape.count(); ++i) {
      change[b.tick + b.shape.at(i)] += b.width;
    }
  }
  for (const Burst &b : traffic.received) {
    for (uint64_t i = 0; i < b.shape.count(); ++i) {
      change[b.tick + b.shape.at(i) + 1] -= b.width;
    }
  }
  int64_t held = 0;
  for (auto [tick, vectors] : change) {
    held += vectors;
    if (held > m.link.bufferVectors) {
      return wrong(number, 0,
                   "the receiver's buffer of " +
                       std::to_string(m.link.bufferVectors) +
                       " vectors holds " + std::to_string(held) + " at " +
                       std::to_string(tick));
    }
  }
  return Success{};
}

} // namespace

Status verifyLinks(const Problem &problem, const Schedule &schedule) {
  std::map<LinkNumber, Traffic> links;
  for (size_t k = 0; k < problem.gangs.size(); ++k) {
    for (const Member &member : problem.gangs[k].members) {
      Tick tick = schedule.start[k] + member.offset;
      if (auto *op = std::get_if<SendOp>(&member.operation)) {
        links[op->link].sent.push_back({tick, op->shape, op->width});
      } else if (auto *op = std::get_if<ReceiveOp>(&member.operation)) {
        links[op->link].received.push_back({tick, op->shape, op->width});
      }
    }
  }
  for (auto &[number, traffic] : links) {
    for (auto *bursts : {&traffic.sent, &traffic.received}) {
      if (Status ok = verifyOrder(number, *bursts); !ok) {
        return ok;
      }
    }
    if (number == kHostLink || number > problem.groupLinks) {
      continue;
    }
    if (traffic.sent.size() != traffic.received.size()) {
      return wrong(number, 0,
                   std::to_string(traffic.sent.size()) + " bursts sent, " +
                       std::to_string(traffic.received.size()) + " received");
    }
    Status ok = verifyArrivals(*problem.machine, number, traffic);
    if (ok) {
      ok = verifyRoom(*problem.machine, number, traffic);
    }
    if (!ok) {
      return ok;
    }
  }
  return Success{};
}

} // namespace orrery::schedule
