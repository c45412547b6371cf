#include "tests/simulator/check/LinkOracle.h"

#include "machine/Timing.h"

#include <algorithm>
#include <limits>

namespace orrery::test {

template <class Op>
static std::vector<size_t> burstsOf(const Program &part, int link) {
  std::vector<size_t> found;
  for (size_t i = 0; i < part.instructions.size(); ++i) {
    auto *op = std::get_if<Op>(&part.instructions[i].operation);
    if (op && op->link == link && link != kHostLink) {
      found.push_back(i);
    }
  }
  return found;
}

std::vector<size_t> sendsOf(const Program &part, int link) {
  return burstsOf<SendOp>(part, link);
}
std::vector<size_t> receivesOf(const Program &part, int link) {
  return burstsOf<ReceiveOp>(part, link);
}

static void fill(WireRun &wire, const SystemProgram &system,
                 const Machine &machine) {
  const ChipProgram &a = system.chips[wire.from], &b = system.chips[wire.to];
  const Program &from = system.parts[a.part], &to = system.parts[b.part];
  auto sends = sendsOf(from, wire.fromLink);
  auto receives = receivesOf(to, wire.toLink);
  Tick free = 0;
  for (size_t k = 0; k < std::min(sends.size(), receives.size()); ++k) {
    const Instruction &s = from.instructions[sends[k]];
    const Instruction &r = to.instructions[receives[k]];
    const auto &send = std::get<SendOp>(s.operation);
    const auto &receive = std::get<ReceiveOp>(r.operation);
    LinkCrossing crossing =
        crossLink(machine, a.start + s.tick, send.shape, send.width, free);
    free = crossing.linkFree;
    uint64_t count = std::min(send.shape.count(), receive.shape.count());
    for (uint64_t i = 0; i < count; ++i) {
      wire.vectors.push_back({sends[k], receives[k], send.width,
                              a.start + s.tick + send.shape.at(i),
                              crossing.arrived[i],
                              b.start + r.tick + receive.shape.at(i)});
    }
  }
}

std::vector<WireRun> wireRuns(const SystemProgram &system,
                              const Machine &machine) {
  std::vector<WireRun> wires;
  auto meet = [&](size_t a, int ka, size_t b, int kb, const Link &cable) {
    const ChipProgram &from = system.chips[a], &to = system.chips[b];
    int out = from.links[ka].out, in = to.links[kb].in;
    bool forth = from.chip == cable.chip && out == cable.port &&
                 to.chip == cable.otherChip && in == cable.otherPort;
    bool back = from.chip == cable.otherChip && out == cable.otherPort &&
                to.chip == cable.chip && in == cable.port;
    if (forth || back) {
      WireRun wire{a, b, ka + 1, kb + 1, {}};
      fill(wire, system, machine);
      if (!wire.vectors.empty()) {
        wires.push_back(std::move(wire));
      }
    }
  };
  for (size_t a = 0; a < system.chips.size(); ++a) {
    for (size_t b = 0; b < system.chips.size(); ++b) {
      for (int ka = 0; ka < int(system.chips[a].links.size()); ++ka) {
        for (int kb = 0; kb < int(system.chips[b].links.size()); ++kb) {
          for (const Link &cable : machine.system.links) {
            meet(a, ka, b, kb, cable);
          }
        }
      }
    }
  }
  return wires;
}

Tick slackOf(const WireRun &wire) {
  Tick slack = std::numeric_limits<Tick>::max();
  for (const CrossingVector &v : wire.vectors) {
    slack = std::min(slack, v.received - v.arrived);
  }
  return slack;
}

int64_t peakOf(const WireRun &wire) {
  int64_t peak = 0;
  for (const CrossingVector &now : wire.vectors) {
    int64_t held = 0;
    for (const CrossingVector &v : wire.vectors) {
      held += v.sent <= now.sent && v.received > now.sent ? v.width : 0;
    }
    peak = std::max(peak, held);
  }
  return peak;
}

} // namespace orrery::test
