#include "compiler/schedule/Verify.h"

#include "compiler/schedule/VerifyLinks.h"
#include "compiler/schedule/VerifyOrder.h"

#include <algorithm>
#include <tuple>

namespace orrery::schedule {

namespace {

/// A stretch of a resource's time, or of a stream's diagonals.
struct Stretch {
  uint64_t key;
  Tick begin, end;
  Position low, high;
  uint32_t gang, member;
};

// Every vector of a burst counts by itself when it leaves gaps, so that
// interleaved bursts are told apart exactly.
void append(std::vector<Stretch> &out, Stretch s, const BurstShape &shape) {
  Tick start = s.begin;
  bool dense = shape.stride == 1;
  for (uint32_t r = 0; r < shape.runs; ++r) {
    Tick run = start + Tick(r) * shape.period;
    for (uint32_t i = 0; i < (dense ? 1 : shape.length); ++i) {
      s.begin = run + Tick(i) * shape.stride;
      s.end = s.begin + (dense ? shape.length : 1);
      out.push_back(s);
    }
  }
}

std::string nameOf(const Problem &problem, const Schedule &schedule,
                   const Stretch &s) {
  const Member &member = problem.gangs[s.gang].members[s.member];
  return std::string(mnemonic(member.operation)) + " of gang " +
         std::to_string(s.gang) + " (tick " +
         std::to_string(schedule.start[s.gang] + member.offset) + ")";
}

using NameOfKey = std::string (*)(const Problem &, uint64_t key);
constexpr uint64_t kWest = 256; ///< added to the number of a westward stream

std::string portName(const Problem &problem, uint64_t key) {
  return resourceName(*problem.machine, uint32_t(key));
}
std::string streamName(const Problem &, uint64_t key) {
  return (key < kWest ? "stream east " : "stream west ") +
         std::to_string(key % kWest);
}

// Within one key sorted by begin, look back as far as the longest stretch.
Status findOverlap(std::vector<Stretch> stretches, const Problem &problem,
                   const Schedule &schedule, NameOfKey what) {
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch &a, const Stretch &b) {
              return std::tie(a.key, a.begin) < std::tie(b.key, b.begin);
            });
  std::vector<size_t> open;
  for (size_t i = 0; i < stretches.size(); ++i) {
    const Stretch &s = stretches[i];
    std::erase_if(open, [&](size_t o) {
      return stretches[o].key != s.key || stretches[o].end <= s.begin;
    });
    for (size_t o : open) {
      const Stretch &other = stretches[o];
      if (other.low <= s.high && s.low <= other.high) {
        return Error{what(problem, s.key) + ": " +
                     nameOf(problem, schedule, other) + " meets " +
                     nameOf(problem, schedule, s) + " at " +
                     std::to_string(s.begin)};
      }
    }
    open.push_back(i);
  }
  return Success{};
}

} // namespace

Status verify(const Problem &problem, const Schedule &schedule) {
  std::vector<Stretch> ports, streams;
  for (uint32_t gang = 0; gang < problem.gangs.size(); ++gang) {
    const Gang &g = problem.gangs[gang];
    Tick start = schedule.start[gang];
    for (uint32_t member = 0; member < g.members.size(); ++member) {
      const Member &part = g.members[member];
      if (start + part.offset < 0) {
        return Error{"gang " + std::to_string(gang) + " begins before tick 0"};
      }
      for (const Reservation &r : reservationsOf(problem, part.operation)) {
        append(
            ports,
            {r.resource, start + part.offset + r.offset, 0, 0, 0, gang, member},
            r.shape);
      }
    }
    for (size_t u = 0; u < g.streams.size(); ++u) {
      const StreamUse &use = g.streams[u];
      for (uint32_t k = 0; k < use.width; ++k) {
        Position from = use.from + Position(k) * use.fromStep;
        bool east = use.direction == Direction::East;
        append(streams,
               {uint64_t(use.direction) * kWest + schedule.streams[gang][u] + k,
                start + use.diagonal, 0, east ? from + 1 : use.stop,
                east ? use.stop : from - 1, gang, 0},
               use.shape);
      }
    }
  }
  Status ok = findOverlap(std::move(ports), problem, schedule, portName);
  if (ok) {
    ok = findOverlap(std::move(streams), problem, schedule, streamName);
  }
  if (ok) {
    ok = verifyLinks(problem, schedule);
  }
  return ok ? verifyOrder(problem, schedule) : ok;
}

} // namespace orrery::schedule
