// Candidates: every way to divide that fits. PlaceSplit takes one of them.
#include "compiler/partition/Partition.h"

#include "compiler/partition/PlaceSplit.h"
#include "compiler/partition/RoomAdvice.h"
#include "compiler/partition/UnitLimits.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

namespace orrery::partition {

namespace {

/// Finds the split of one request on one machine.
class SplitChoice {
public:
  /// `tellsLack`: it will be asked what lacks when nothing fits.
  SplitChoice(const Machine &machine, const StepShape &shape,
              const SplitRequest &request, bool tellsLack)
      : machine(machine), shape(shape), request(request), tellsLack(tellsLack),
        graph(machine) {}

  Expected<Split> choose();
  /// When no candidate fits: the one that lacks least.
  const Candidate *lacking() const {
    return candidates.empty() && nearest ? &*nearest : nullptr;
  }
  /// There were some that fit, but no cables for them.
  bool lacksCables() const { return !candidates.empty(); }

private:
  Status checkRequest() const;
  bool enoughLinks(int64_t tp, bool ring) const;
  bool spills(const Candidate &candidate) const {
    return std::ranges::any_of(candidate.deal.stages, [&](const StagePlan &s) {
      return shortageOf(machine, s.bytes).spilled > 0;
    });
  }
  void addCandidates(int64_t tp, bool ring);
  bool hasRoomForEach(int64_t tp, bool ring) const;
  /// Whether no group of that width would be searched for, if a token's latency
  /// is at least that.
  bool isTooSlow(Tick latency, int64_t tp) const {
    bool alone = request.objective == Objective::Latency;
    Tick least = latency / (alone ? 1 : machine.system.chips / tp);
    return cheapest.size() == kSearches && least > *cheapest.rbegin();
  }
  void considerCounts(int64_t tp, bool ring, std::span<DealStages> cuttings);
  bool considerAll(int64_t tp, int64_t pp, bool ring,
                   std::span<DealStages> cuttings);
  void consider(Candidate found, DealStages &dealing);
  void considerLacking(Candidate found, DealStages &dealing);

  const Machine &machine;
  const StepShape &shape;
  const SplitRequest &request;
  bool tellsLack;
  LinkGraph graph;
  std::vector<Candidate> candidates; ///< that fit
  /// What the cheapest candidates cost of as many widths as are searched for.
  std::multiset<Tick> cheapest;
  std::optional<Candidate> nearest; ///< of those that do not fit
  std::optional<Error> narrow;      ///< what a unit could not hold
};

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

// Feed-forward networks that are cut in two take more programs: that is looked
// at when there is no room otherwise, or for balance, and taken for latency
// only when it is worth it.
//
// Returns whether more stages need not be looked at: they only make a step
// longer, unless it takes fewer cuts or fewer weights beyond the weight slices.
bool SplitChoice::considerAll(int64_t tp, int64_t pp, bool ring,
                              std::span<DealStages> cuttings) {
  bool latency = request.objective == Objective::Latency;
  for (DealStages &dealing : cuttings) {
    size_t before = candidates.size();
    if (pp <= dealing.mostStages()) {
      consider({tp, pp, ring, dealing.cuts(), 1, {}, 0}, dealing);
    }
    if (latency && candidates.size() > before) {
      return dealing.cuts() == Cuts::Sublayers && !spills(candidates.back());
    }
  }
  return false;
}

void SplitChoice::consider(Candidate found, DealStages &dealing) {
  if (dealing.fewest(1).value_or(INT64_MAX) > found.pp) {
    if (candidates.empty()) { // else nobody asks what lacks
      considerLacking(std::move(found), dealing);
    }
    return;
  }
  bool latency = request.objective == Objective::Latency;
  found.users = latency ? 1 : dealing.mostUsers(found.pp);
  found.deal = dealing.deal(found.pp, found.users, request.objective);
  found.cost = costOf(found.deal, found.users, request.objective);
  if (latency && found.cuts == Cuts::Sections) {
    found.cost += found.cost / kTold;
  }
  candidates.push_back(std::move(found));
}

void SplitChoice::considerLacking(Candidate found, DealStages &dealing) {
  if (!nearest || dealing.leastLack(found.pp, 1) < nearest->deal.shortage) {
    found.deal = dealing.deal(found.pp, 1, request.objective);
    nearest = std::move(found);
  }
}

// Whether a chip has room for any section alone: quick, as nothing is timed.
bool SplitChoice::hasRoomForEach(int64_t tp, bool ring) const {
  ByteModel bytes(machine, shape, tp, ring, request.products);
  ChipRoom room(machine);
  const LayerShape *before = nullptr;
  for (const LayerShape &layer : shape.layers) {
    for (int64_t k = 0; !(before && *before == layer) && k < kSections; ++k) {
      StageBytes stage = bytes.fixed();
      stage += bytes.section(layer, kindOf(k));
      if (room.shortageOf(stage).bytes() > 0) {
        return false;
      }
    }
    before = &layer;
  }
  return true;
}

void SplitChoice::addCandidates(int64_t tp, bool ring) {
  if (Status limits = checkUnits(machine, shape, tp); !limits) {
    narrow = limits.error();
    return;
  }
  if (!tellsLack && !hasRoomForEach(tp, ring)) {
    return;
  }
  // Most widths need not be costed.
  if (ring && isTooSlow(StageCosts::leastTicksInRing(machine, shape, tp), tp)) {
    return;
  }
  StageCosts costs(machine, shape, tp, ring, request.products);
  if (isTooSlow(costs.leastTicks(), tp)) {
    return;
  }
  size_t before = candidates.size();
  std::vector<DealStages> cuttings;
  for (Cuts cuts : {Cuts::Sublayers, Cuts::Sections}) {
    if (!request.cut || *request.cut == (cuts == Cuts::Sections)) {
      cuttings.emplace_back(costs, cuts);
    }
  }
  considerCounts(tp, ring, cuttings);
  Tick cost = INT64_MAX;
  for (size_t c = before; c < candidates.size(); ++c) {
    cost = std::min(cost, candidates[c].cost);
  }
  if (candidates.size() > before) {
    cheapest.insert(cost);
    if (cheapest.size() > kSearches) {
      cheapest.erase(std::prev(cheapest.end()));
    }
  }
}

// All numbers of stages that may be.
void SplitChoice::considerCounts(int64_t tp, bool ring,
                                 std::span<DealStages> cuttings) {
  if (request.pp > 0) {
    considerAll(tp, request.pp, ring, cuttings);
    return;
  }
  DealStages &finest = cuttings.back();
  int64_t most =
      std::min<int64_t>(finest.mostStages(), machine.system.chips / tp);
  // As many as there may be at least say what lacks.
  int64_t least = std::min(finest.fewest(1).value_or(most), most);
  bool enough = false;
  for (int64_t pp = least; pp <= most && !enough; ++pp) {
    enough = considerAll(tp, pp, ring, cuttings);
  }
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
    return noGroups(machine, request);
  }
  if (!candidates.empty()) {
    return placeSplit(machine, shape, request, graph, candidates);
  }
  return narrow && !nearest ? *narrow : Error{machine.name + ": no room"};
}

} // namespace

Expected<Split> findSplit(const Machine &machine, const StepShape &shape,
                          const SplitRequest &request) {
  return SplitChoice(machine, shape, request, false).choose();
}

Expected<Split> chooseSplit(const Machine &machine, const StepShape &shape,
                            const SplitRequest &request) {
  SplitChoice choice(machine, shape, request, true);
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
