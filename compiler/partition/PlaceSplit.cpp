#include "compiler/partition/PlaceSplit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace orrery::partition {

std::string named(int64_t tp, int64_t pp) {
  return "tp=" + std::to_string(tp) + ", pp=" + std::to_string(pp);
}

Error noGroups(const Machine &machine, const SplitRequest &request) {
  return {machine.name + ": no " + std::to_string(request.tp) +
          " chips are linked each to each or in a ring"};
}

namespace {

class SplitPlacing {
public:
  SplitPlacing(const Machine &machine, const StepShape &shape,
               const SplitRequest &request, const LinkGraph &graph)
      : machine(machine), shape(shape), request(request), graph(graph) {}

  Expected<Split> place(std::vector<Candidate> candidates);

private:
  std::optional<Placement> findStraight(const Candidate &c);
  std::optional<Placement> findRoutes(const Candidate &c);
  std::optional<Placement> search(const Candidate &c, int64_t relays);
  Tick relayTicks(const Candidate &c, const Placement &placement) const;

  const Machine &machine;
  const StepShape &shape;
  const SplitRequest &request;
  const LinkGraph &graph;
  using Width = std::pair<int64_t, bool>; ///< tp, ring
  std::map<Width, int64_t> longestOf;     ///< groups, straight
  std::map<Width, int64_t> tooMany;       ///< the fewest, over third chips
  int64_t routeSearches = 0;
  /// Groups of the longest chain found, and what to say of it.
  int64_t longest = -1;
  std::string refusal;
};

std::optional<Placement> SplitPlacing::search(const Candidate &c,
                                              int64_t relays) {
  PlaceOutcome outcome = placeGroups(graph, c.tp, c.pp, c.ring, relays);
  if (!outcome.placement && outcome.longest > longest) {
    longest = outcome.longest;
    refusal = named(c.tp, c.pp) + ": " + outcome.refusal;
  }
  if (!outcome.placement && relays == 0) {
    longestOf[{c.tp, c.ring}] = outcome.longest;
  }
  return std::move(outcome.placement);
}

// None where fewer groups were too many already.
std::optional<Placement> SplitPlacing::findStraight(const Candidate &c) {
  auto known = longestOf.find({c.tp, c.ring});
  bool fewer = known != longestOf.end() && known->second < c.pp;
  return fewer || longestOf.size() >= kSearches ? std::nullopt : search(c, 0);
}

// With the chips that are left as third ones: for fewer groups, more of them.
std::optional<Placement> SplitPlacing::findRoutes(const Candidate &c) {
  Width width(c.tp, c.ring);
  int64_t spare = graph.chips() / c.tp - c.pp;
  auto straight = longestOf.find(width);
  bool groups = straight != longestOf.end() && straight->second > 0;
  auto known = tooMany.find(width);
  if (spare < 1 || !groups || routeSearches >= kRouteSearches ||
      (known != tooMany.end() && known->second <= c.pp)) {
    return std::nullopt;
  }
  ++routeSearches;
  auto found = search(c, spare);
  if (!found) {
    tooMany[width] = c.pp;
  }
  return found;
}

// A relay is one more hop of what the stage before passes on.
Tick SplitPlacing::relayTicks(const Candidate &c,
                              const Placement &placement) const {
  TickModel model(machine, shape, c.tp, c.ring, request.products);
  Tick ticks = 0;
  size_t stage = 0;
  for (const PlacedStage &placed : placement.stages) {
    if (!placed.relay) {
      ++stage;
      continue;
    }
    const StagePlan &before = c.deal.stages[stage - 1];
    int64_t last = before.first + before.sections - 1;
    ticks += model
                 .betweenStages(shape.layers[size_t(last / kSections)],
                                Section(last % kSections))
                 .hop;
  }
  return ticks;
}

Expected<Split> SplitPlacing::place(std::vector<Candidate> candidates) {
  std::ranges::sort(candidates, {}, [](const Candidate &c) {
    return std::tuple(c.cost, c.tp * c.pp, c.tp, c.ring, c.cuts);
  });
  std::optional<Split> best;
  Tick bestCost = 0;
  auto take = [&](const Candidate &c, Placement placement) {
    Tick relays = relayTicks(c, placement);
    // Who take turns meet in the slowest stage, or wait for their own tokens.
    Tick cost = std::max(c.cost, (c.deal.latency + relays) / c.users);
    if (!best || cost < bestCost) {
      bestCost = cost;
      best = Split{c.tp,
                   c.pp,
                   c.deal.stages,
                   std::move(placement),
                   c.deal.latency + relays,
                   c.deal.slowest,
                   c.users,
                   c.cuts == Cuts::Sections};
    }
  };
  for (const Candidate &c : candidates) {
    if (best && bestCost <= c.cost) {
      break;
    }
    if (auto straight = findStraight(c)) {
      take(c, std::move(*straight));
      break;
    }
    if (auto routed = findRoutes(c)) {
      take(c, std::move(*routed));
    }
  }
  if (best) {
    return std::move(*best);
  }
  return longest <= 0 && request.tp > 0 ? noGroups(machine, request)
                                        : Error{machine.name + ": " + refusal};
}

} // namespace

Expected<Split> placeSplit(const Machine &machine, const StepShape &shape,
                           const SplitRequest &request, const LinkGraph &graph,
                           std::vector<Candidate> candidates) {
  return SplitPlacing(machine, shape, request, graph)
      .place(std::move(candidates));
}

} // namespace orrery::partition
