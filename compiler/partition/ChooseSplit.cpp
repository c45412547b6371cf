// Candidates, cheapest first; the first that the cables allow is taken.
#include "compiler/partition/Partition.h"

#include "compiler/partition/RoomAdvice.h"
#include "compiler/partition/StageCosts.h"
#include "compiler/partition/UnitLimits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace orrery::partition {

namespace {

struct Candidate {
  int64_t tp, pp;
  bool ring;
  Cuts cuts;
  int64_t users;
  Deal deal;
  Tick cost; ///< a token
};

/// Finds the split of one request on one machine.
class SplitChoice {
public:
  SplitChoice(const Machine &machine, const StepShape &shape,
              const SplitRequest &request)
      : machine(machine), shape(shape), request(request), graph(machine) {}

  Expected<Split> choose();
  /// When no candidate fits: the one that lacks least.
  const Candidate *lacking() const {
    return candidates.empty() && nearest ? &*nearest : nullptr;
  }
  /// There were some that fit, but no cables for them.
  bool lacksCables() const { return !candidates.empty(); }

private:
  // A width that no cables allow costs a search.
  static constexpr size_t kSearches = 40;

  Status checkRequest() const;
  bool enoughLinks(int64_t tp, bool ring) const;
  bool spills(const Candidate &candidate) const {
    return std::ranges::any_of(candidate.deal.stages, [&](const StagePlan &s) {
      return shortageOf(machine, s.bytes).spilled > 0;
    });
  }
  void addCandidates(int64_t tp, bool ring);
  bool considerAll(int64_t tp, int64_t pp, bool ring, const StageCosts &costs);
  void consider(Candidate found, const StageCosts &costs);
  Expected<Split> place();
  /// Only a width that was asked for has none: one chip is a group.
  Error noGroups() const {
    return {machine.name + ": no " + std::to_string(request.tp) +
            " chips are linked each to each or in a ring"};
  }

  const Machine &machine;
  const StepShape &shape;
  const SplitRequest &request;
  LinkGraph graph;
  std::vector<Candidate> candidates; ///< that fit
  std::optional<Candidate> nearest;  ///< of those that do not
  std::optional<Error> narrow;       ///< what a unit could not hold
};

std::string named(int64_t tp, int64_t pp) {
  return "tp=" + std::to_string(tp) + ", pp=" + std::to_string(pp);
}

Status SplitChoice::checkRequest() const {
  int64_t tp = request.tp, pp = request.pp;
  std::string asked = tp && pp ? named(tp, pp)
                      : tp     ? "tp=" + std::to_string(tp)
                               : "pp=" + std::to_string(pp);
  auto layers = int64_t(shape.layers.size());
  int64_t most = kSections * layers + 1;
  int64_t whole = 2 * layers + 1;
  if (tp < 0 || pp < 0) {
    return Error{asked + ": expected at least 1, or 0 to choose"};
  }
  if (pp > most) {
    return Error{asked + ": expected at most " + std::to_string(most) +
                 " stages, three a layer (attention, gate and up, down) and " +
                 "the head; " + shape.model + " has " + std::to_string(layers) +
                 " layers"};
  }
  if (request.cut == false && pp > whole) {
    return Error{asked + ": expected at most " + std::to_string(whole) +
                 " stages of whole feed-forward networks"};
  }
  int64_t chips = machine.system.chips, least = std::max<int64_t>(1, tp);
  if (least > chips || std::max<int64_t>(1, pp) > chips / least) {
    return Error{asked + ": expected at most the " + std::to_string(chips) +
                 " chips of " + machine.name};
  }
  return Success{};
}

// Whether enough chips have cables to that many others. Quick, and says no to
// most widths that a system has no groups of.
bool SplitChoice::enoughLinks(int64_t tp, bool ring) const {
  auto needed = size_t(ring ? 2 : tp - 1);
  int64_t chips = 0;
  for (int32_t chip = 0; chip < graph.chips(); ++chip) {
    chips += graph.neighbours(chip).size() >= needed ? 1 : 0;
  }
  return chips >= tp;
}

// Feed-forward networks that are cut in two send more from stage to stage: that
// is looked at when there is no room otherwise, or for balance.
//
// Returns whether more stages need not be looked at: they only make a step
// longer, unless it takes fewer cuts or fewer weights beyond the weight slices.
bool SplitChoice::considerAll(int64_t tp, int64_t pp, bool ring,
                              const StageCosts &costs) {
  bool latency = request.objective == Objective::Latency;
  for (Cuts cuts : {Cuts::Sublayers, Cuts::Sections}) {
    if (request.cut && *request.cut != (cuts == Cuts::Sections)) {
      continue;
    }
    size_t before = candidates.size();
    if (pp <= costs.mostStages(cuts)) {
      consider({tp, pp, ring, cuts, 1, costs.deal(pp, 1, cuts), 0}, costs);
    }
    if (latency && candidates.size() > before) {
      return cuts == Cuts::Sublayers && !spills(candidates.back());
    }
  }
  return false;
}

void SplitChoice::consider(Candidate found, const StageCosts &costs) {
  found.cost = found.deal.latency;
  if (found.deal.shortage > 0) {
    if (!nearest || found.deal.shortage < nearest->deal.shortage) {
      nearest = std::move(found);
    }
    return;
  }
  if (request.objective == Objective::Throughput) {
    auto deal = [&](int64_t users) {
      return costs.deal(found.pp, users, found.cuts);
    };
    while (found.users < found.pp && deal(found.users + 1).shortage == 0) {
      ++found.users;
    }
    found.deal = deal(found.users);
    found.cost = std::max(found.deal.slowest, found.deal.latency / found.users);
  }
  candidates.push_back(std::move(found));
}

void SplitChoice::addCandidates(int64_t tp, bool ring) {
  if (Status limits = checkUnits(machine, shape, tp); !limits) {
    narrow = limits.error();
    return;
  }
  StageCosts costs(machine, shape, tp, ring, request.products);
  if (request.pp > 0) {
    considerAll(tp, request.pp, ring, costs);
    return;
  }
  Cuts finest = request.cut == false ? Cuts::Sublayers : Cuts::Sections;
  int64_t most =
      std::min<int64_t>(costs.mostStages(finest), machine.system.chips / tp);
  bool enough = false;
  // The last one at least says what lacks.
  int64_t least = std::min(costs.leastStages(), most);
  for (int64_t pp = least; pp <= most && !enough; ++pp) {
    enough = considerAll(tp, pp, ring, costs);
  }
}

// The cheapest that the cables allow. Otherwise the error is about the longest
// chain that was found.
Expected<Split> SplitChoice::place() {
  std::ranges::sort(candidates, {}, [](const Candidate &c) {
    return std::tuple(c.cost, c.tp * c.pp, c.tp, c.ring, c.cuts);
  });
  int64_t longest = -1;
  std::string refusal;
  std::map<std::pair<int64_t, bool>, int64_t> longestOf; ///< by tp, ring
  for (Candidate &c : candidates) {
    auto known = longestOf.find({c.tp, c.ring});
    if (known != longestOf.end() && known->second < c.pp) {
      continue; // fewer groups were too many
    }
    if (longestOf.size() >= kSearches) {
      break;
    }
    PlaceOutcome outcome = placeGroups(graph, c.tp, c.pp, c.ring);
    if (outcome.placement) {
      return Split{c.tp,
                   c.pp,
                   std::move(c.deal.stages),
                   std::move(*outcome.placement),
                   c.deal.latency,
                   c.deal.slowest,
                   c.users,
                   c.cuts == Cuts::Sections};
    }
    longestOf[{c.tp, c.ring}] = outcome.longest;
    if (outcome.longest > longest) {
      longest = outcome.longest;
      refusal = named(c.tp, c.pp) + ": " + outcome.refusal;
    }
  }
  return longest <= 0 && request.tp > 0 ? noGroups()
                                        : Error{machine.name + ": " + refusal};
}

Expected<Split> SplitChoice::choose() {
  if (Status asked = checkRequest(); !asked) {
    return asked.error();
  }
  // More ranks than blocks of 32 would have nothing to do.
  int64_t widest = std::max({shape.hidden, shape.ffn, shape.vocab});
  int64_t most =
      request.tp ? request.tp
                 : std::min<int64_t>(machine.system.chips, (widest + 31) / 32);
  bool linked = false;
  for (int64_t tp = request.tp ? request.tp : 1; tp <= most; ++tp) {
    for (bool ring : {false, true}) {
      if ((!ring || tp >= 3) && enoughLinks(tp, ring)) {
        linked = true;
        addCandidates(tp, ring);
      }
    }
  }
  if (!linked) {
    return noGroups();
  }
  if (!candidates.empty()) {
    return place();
  }
  return nearest ? Error{machine.name + ": no room"} : *narrow;
}

} // namespace

Expected<Split> findSplit(const Machine &machine, const StepShape &shape,
                          const SplitRequest &request) {
  return SplitChoice(machine, shape, request).choose();
}

Expected<Split> chooseSplit(const Machine &machine, const StepShape &shape,
                            const SplitRequest &request) {
  SplitChoice choice(machine, shape, request);
  Expected<Split> split = choice.choose();
  if (const Candidate *c = choice.lacking()) {
    return Error{lackOfRoom(machine, shape, named(c->tp, c->pp), c->deal) +
                 advice(machine, shape, request)};
  }
  if (!split && choice.lacksCables()) {
    return Error{split.error().message + advice(machine, shape, request)};
  }
  return split;
}

} // namespace orrery::partition
