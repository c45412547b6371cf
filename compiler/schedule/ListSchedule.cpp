#include "compiler/schedule/ListSchedule.h"

#include "compiler/schedule/Hazards.h"
#include "compiler/schedule/Timeline.h"

#include <algorithm>
#include <limits>

namespace orrery::schedule {

namespace {

class ListScheduler {
public:
  ListScheduler(const Problem &problem, const ListOptions &options)
      : problem(problem), m(*problem.machine), options(options),
        hazards(problem, options.unlimited), ports(resourceCount(m)),
        streams(2 * size_t(m.streamsPerDirection)),
        users(problem.loads.size()) {}

  Expected<Schedule> run();

private:
  struct LiveLoad {
    uint32_t load, base, entries;
  };

  std::optional<Error> openLoad(uint32_t load);
  void closeUse(uint32_t load);
  Tick place(const Gang &gang, Tick start, std::vector<uint8_t> &chosen);
  Tick portsDelay(const Gang &gang, Tick start) const;
  Tick streamsDelay(const Gang &gang, Tick start,
                    std::vector<uint8_t> &chosen) const;
  Tick groupDelay(const StreamUse &use, Tick start, uint32_t base,
                  const Gang &gang, const std::vector<uint8_t> &chosen) const;
  void reserve(const Gang &gang, Tick start,
               const std::vector<uint8_t> &chosen);
  Timeline &stream(Direction d, uint32_t s) {
    return streams[size_t(d) * size_t(m.streamsPerDirection) + s];
  }
  const Timeline &stream(Direction d, uint32_t s) const {
    return streams[size_t(d) * size_t(m.streamsPerDirection) + s];
  }

  const Problem &problem;
  const Machine &m;
  ListOptions options;
  Hazards hazards;
  std::vector<Timeline> ports, streams;
  std::vector<LiveLoad> live;
  std::vector<uint32_t> users;
  Schedule result;
};

// The positions a stream of the group occupies: those after its producer.
Span cells(const StreamUse &use, uint32_t k, Tick begin, Tick end) {
  Position from = use.from + Position(k) * use.fromStep;
  return use.direction == Direction::East
             ? Span{begin, end, from + 1, use.stop}
             : Span{begin, end, use.stop, from - 1};
}

bool meet(const StreamUse &a, uint32_t baseA, const StreamUse &b,
          uint32_t baseB) {
  if (a.direction != b.direction || baseA + a.width <= baseB ||
      baseB + b.width <= baseA) {
    return false;
  }
  Tick endA = a.diagonal + a.shape.span(), endB = b.diagonal + b.shape.span();
  return a.diagonal <= endB && b.diagonal <= endA;
}

} // namespace

// Entries are live from the load to its last user; first fit among the gaps,
// looking first behind the youngest so that old rows can be replaced late.
std::optional<Error> ListScheduler::openLoad(uint32_t load) {
  const LoadEntries &want = problem.loads[load];
  auto capacity = uint32_t(m.matrix.activationVectors);
  auto isFree = [&](uint32_t base) {
    return base + want.entries <= capacity &&
           std::none_of(live.begin(), live.end(), [&](const LiveLoad &l) {
             return problem.loads[l.load].side == want.side &&
                    base < l.base + l.entries && l.base < base + want.entries;
           });
  };
  std::vector<uint32_t> candidates;
  for (auto l = live.rbegin(); l != live.rend(); ++l) {
    candidates.push_back(l->base + l->entries);
  }
  uint32_t turn = load / 2 % 2 == 0 ? 0 : capacity / 2;
  candidates.push_back(turn);
  candidates.push_back(0);
  for (uint32_t base : candidates) {
    if (isFree(base)) {
      live.push_back({load, base, want.entries});
      users[load] = want.users;
      result.entryBase[load] = uint16_t(base);
      return std::nullopt;
    }
  }
  return Error{"activation buffer of " + std::to_string(capacity) +
               " vectors has no room for " + std::to_string(want.entries) +
               " more"};
}

void ListScheduler::closeUse(uint32_t load) {
  if (users[load] > 0 && --users[load] > 0) {
    return;
  }
  std::erase_if(live, [&](const LiveLoad &l) { return l.load == load; });
}

// Zero, or how far the gang must move to clear a port it meets.
Tick ListScheduler::portsDelay(const Gang &gang, Tick start) const {
  Tick delay = 0;
  for (const Member &member : gang.members) {
    for (const Reservation &r : reservationsOf(problem, member.operation)) {
      forEachStretch(r.shape, start + member.offset + r.offset,
                     [&](Tick begin, Tick end) {
                       auto found = ports[r.resource].conflict({begin, end});
                       delay = std::max(delay, found.value_or(0));
                       return !found;
                     });
      if (delay > 0) {
        return delay;
      }
    }
  }
  return 0;
}

// The least delay that frees the group at streams base .. for this use.
Tick ListScheduler::groupDelay(const StreamUse &use, Tick start, uint32_t base,
                               const Gang &gang,
                               const std::vector<uint8_t> &chosen) const {
  for (size_t other = 0; other < chosen.size(); ++other) {
    if (meet(use, base, gang.streams[other], chosen[other])) {
      return std::numeric_limits<Tick>::max(); // its own gang is in the way
    }
  }
  Tick delay = 0;
  for (uint32_t k = 0; k < use.width && delay == 0; ++k) {
    const Timeline &line = stream(use.direction, base + k);
    forEachStretch(use.shape, start + use.diagonal, [&](Tick begin, Tick end) {
      delay = line.conflict(cells(use, k, begin, end)).value_or(0);
      return delay == 0;
    });
  }
  return delay;
}

Tick ListScheduler::streamsDelay(const Gang &gang, Tick start,
                                 std::vector<uint8_t> &chosen) const {
  chosen.clear();
  for (const StreamUse &use : gang.streams) {
    // Narrow groups from the top, wide ones (weights) from the bottom, so
    // that two planes' weights and a layer's vectors rarely meet.
    uint32_t step = use.width >= 8 ? use.width : use.width >= 4 ? 4 : 1;
    uint32_t count = (uint32_t(m.streamsPerDirection) - use.width) / step + 1;
    Tick least = std::numeric_limits<Tick>::max();
    for (uint32_t k = 0; k < count && least > 0; ++k) {
      uint32_t base = use.width >= 8 ? k * step : (count - 1 - k) * step;
      Tick delay = groupDelay(use, start, base, gang, chosen);
      if (delay == 0) {
        chosen.push_back(uint8_t(base));
      }
      least = std::min(least, delay);
    }
    if (least > 0) {
      return least;
    }
  }
  return 0;
}

Tick ListScheduler::place(const Gang &gang, Tick start,
                          std::vector<uint8_t> &chosen) {
  if (options.unlimited) {
    chosen.assign(gang.streams.size(), 0);
    return start;
  }
  for (;;) {
    Tick delay = portsDelay(gang, start);
    if (delay == 0) {
      delay = streamsDelay(gang, start, chosen);
    }
    if (delay == 0) {
      return start;
    }
    if (delay == std::numeric_limits<Tick>::max()) {
      return -1;
    }
    start += delay;
  }
}

void ListScheduler::reserve(const Gang &gang, Tick start,
                            const std::vector<uint8_t> &chosen) {
  for (const Member &member : gang.members) {
    for (const Reservation &r : reservationsOf(problem, member.operation)) {
      forEachStretch(r.shape, start + member.offset + r.offset,
                     [&](Tick begin, Tick end) {
                       ports[r.resource].add({begin, end});
                       return true;
                     });
    }
  }
  for (size_t u = 0; u < gang.streams.size(); ++u) {
    const StreamUse &use = gang.streams[u];
    for (uint32_t k = 0; k < use.width; ++k) {
      Timeline &line = stream(use.direction, chosen[u] + k);
      forEachStretch(use.shape, start + use.diagonal,
                     [&](Tick begin, Tick end) {
                       line.add(cells(use, k, begin, end));
                       return true;
                     });
    }
  }
}

Expected<Schedule> ListScheduler::run() {
  result.entryBase.assign(problem.loads.size(), 0);
  for (const Gang &gang : problem.gangs) {
    if (gang.loads != kNoLoad) {
      if (auto error = openLoad(gang.loads)) {
        return *error;
      }
    }
    uint32_t load = gang.loads != kNoLoad ? gang.loads : gang.uses;
    uint32_t base = load == kNoLoad ? 0 : result.entryBase[load];
    std::vector<uint8_t> chosen;
    Tick earliest = hazards.earliest(gang, base);
    if (earliest >= LinkHazards::kNever) {
      return Error{"gang " + std::to_string(result.start.size()) +
                   " would wait for a link's send or receive that comes "
                   "after it"};
    }
    Tick start = place(gang, earliest, chosen);
    if (start < 0) {
      return Error{"gang " + std::to_string(result.start.size()) +
                   " needs more streams than the chip's " +
                   std::to_string(m.streamsPerDirection) + " a direction"};
    }
    if (!options.unlimited) {
      reserve(gang, start, chosen);
    }
    hazards.commit(gang, base, start);
    result.start.push_back(start);
    result.streams.push_back(std::move(chosen));
    if (gang.uses != kNoLoad) {
      closeUse(gang.uses);
    }
  }
  return std::move(result);
}

Expected<Schedule> listSchedule(const Problem &problem,
                                const ListOptions &options) {
  return ListScheduler(problem, options).run();
}

} // namespace orrery::schedule
