#include "simulator/check/LinkTraffic.h"

#include "simulator/check/Bursts.h"

#include <algorithm>

namespace orrery::check {

namespace {

/// first, first + step, ...
struct Line {
  Tick first, step;
  Tick at(uint64_t i) const { return first + Tick(i) * step; }
};

/// The first i < n at which `a` is less than `b`, else n.
uint64_t firstBelow(const Line &a, const Line &b, uint64_t n) {
  Tick ahead = a.first - b.first, lost = b.step - a.step;
  if (ahead < 0) {
    return 0;
  }
  return lost > 0 ? std::min<uint64_t>(n, uint64_t(ahead / lost) + 1) : n;
}

/// How many vectors of the burst come at `tick` or before.
uint64_t countUpTo(const LinkBurst &burst, Tick tick) {
  const BurstShape &s = burst.shape;
  Tick since = tick - burst.tick;
  if (since < 0) {
    return 0;
  }
  uint64_t run = 0;
  if (s.runs > 1) {
    run = std::min<uint64_t>(uint64_t(since) / s.period, s.runs - 1);
    since -= Tick(run) * s.period;
  }
  uint64_t inRun = s.length == 1 ? 1 : uint64_t(since) / s.stride + 1;
  return run * s.length + std::min<uint64_t>(inRun, s.length);
}

/// Stream vectors taken out of the buffer so far, as time goes on.
class Taken {
public:
  Taken(const std::vector<LinkBurst> &receives, size_t bursts, Tick shift)
      : receives(receives), bursts(bursts), shift(shift) {}

  /// At `tick` or before; never less than at the call before.
  uint64_t by(Tick tick) {
    tick -= shift;
    while (next < bursts && receives[next].last() <= tick) {
      whole += receives[next++].streamVectors();
    }
    return whole + (next < bursts
                        ? countUpTo(receives[next], tick) * receives[next].width
                        : 0);
  }

private:
  const std::vector<LinkBurst> &receives;
  size_t bursts, next = 0;
  Tick shift;
  uint64_t whole = 0; ///< of the bursts before `next`
};

} // namespace

std::vector<LinkTraffic> linkTrafficOf(const Program &program, int32_t ports) {
  std::vector<LinkTraffic> links(size_t(ports) + 1);
  for (uint32_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction &instruction = program.instructions[i];
    if (auto *op = std::get_if<SendOp>(&instruction.operation);
        op && op->link != kHostLink) {
      links[op->link].sends.push_back(
          {i, instruction.tick, op->shape, op->width});
    } else if (auto *op = std::get_if<ReceiveOp>(&instruction.operation);
               op && op->link != kHostLink) {
      links[op->link].receives.push_back(
          {i, instruction.tick, op->shape, op->width});
    }
  }
  return links;
}

std::optional<LateVector>
Crossing::carry(const LinkBurst &send, const LinkBurst &receive, Tick shift) {
  Tick each = Tick(send.width) * link.vectorTicks;
  BurstShape out = normalised(send.shape), in = normalised(receive.shape);
  for (uint64_t i = 0; i < out.count();) {
    uint64_t n = std::min<uint64_t>(out.length - i % out.length,
                                    in.length - i % in.length);
    // When the vectors begin to cross, at the earliest.
    Line queued{free, each};
    Line prompt{send.tick + out.at(i), std::max<Tick>(out.stride, each)};
    Line taken{receive.tick + shift + in.at(i), in.stride};
    Line arrived = taken;
    arrived.first -= each + link.latency;
    uint64_t late = std::min(firstBelow(arrived, queued, n),
                             firstBelow(arrived, prompt, n));
    if (late < n) {
      Tick begins = std::max(queued.at(late), prompt.at(late));
      return LateVector{i + late, taken.at(late), begins + each + link.latency};
    }
    free = std::max(queued.at(n - 1), prompt.at(n - 1)) + each;
    i += n;
  }
  return std::nullopt;
}

std::optional<Overfull> firstOverfull(const LinkTraffic &from,
                                      const LinkTraffic &to, size_t bursts,
                                      Tick shift, uint64_t room) {
  Taken taken(to.receives, bursts, shift);
  uint64_t sent = 0; // before the burst
  for (size_t b = 0; b < bursts; ++b) {
    const LinkBurst &send = from.sends[b];
    uint64_t after = sent + send.streamVectors();
    // Mostly there is room for the whole burst when it begins.
    if (after - taken.by(send.tick) > room) {
      for (uint64_t i = 0; i < send.shape.count(); ++i) {
        uint64_t held = sent + (i + 1) * send.width -
                        taken.by(send.tick + send.shape.at(i));
        if (held > room) {
          return Overfull{b, i, held};
        }
      }
    }
    sent = after;
  }
  return std::nullopt;
}

} // namespace orrery::check
