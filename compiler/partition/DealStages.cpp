#include "compiler/partition/DealStages.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace orrery::partition {

// Each stage as much as it can take. What has room still has it with less, so
// no deal has fewer stages.
std::optional<int64_t> DealStages::fewestLacking(Bytes lack,
                                                 int64_t users) const {
  auto allows = [&](Run run, bool last) {
    return costs.lack(costs.stage(run, last, users, where)) <= lack;
  };
  int64_t pieces = costs.pieces(where);
  Run run{0, 0};
  for (int64_t stages = 1;; ++stages) {
    while (run.end() < pieces && allows({run.first, run.count + 1}, false)) {
      ++run.count;
    }
    if (run.end() == pieces && allows(run, true)) {
      return stages;
    }
    if (run.count == 0) {
      return std::nullopt;
    }
    run = {run.end(), 0};
  }
}

std::optional<int64_t> DealStages::fewest(int64_t users) {
  auto [known, added] = fewestOf.try_emplace(users);
  if (added) {
    known->second = fewestLacking(0, users);
  }
  return known->second;
}

int64_t DealStages::mostUsers(int64_t pp) {
  int64_t room = 1, tooMany = pp + 1;
  while (tooMany - room > 1) {
    int64_t middle = room + (tooMany - room) / 2;
    std::optional<int64_t> stages = fewest(middle);
    (stages && *stages <= pp ? room : tooMany) = middle;
  }
  return room;
}

Bytes DealStages::leastLack(int64_t pp, int64_t users) {
  auto enough = [&](Bytes lack) {
    std::optional<int64_t> stages =
        lack == 0 ? fewest(users) : fewestLacking(lack, users);
    return stages && *stages <= pp;
  };
  if (enough(0)) {
    return 0;
  }
  Bytes tooLittle = 0, lack = evenly(pp, users).shortage;
  while (lack - tooLittle > 1) {
    Bytes middle = tooLittle + (lack - tooLittle) / 2;
    (enough(middle) ? lack : tooLittle) = middle;
  }
  return lack;
}

Deal DealStages::dealOf(const std::vector<Run> &runs, int64_t users) const {
  Deal out;
  out.stages.reserve(runs.size());
  for (const Run &run : runs) {
    out.stages.push_back(costs.stage(run, &run == &runs.back(), users, where));
    const StagePlan &plan = out.stages.back();
    out.shortage = std::max(out.shortage, costs.lack(plan));
    out.latency += plan.ticks.total();
    out.slowest = std::max(out.slowest, plan.ticks.total());
  }
  return out;
}

// The other stages share the rest evenly; what is left over goes one each to
// the first of them, but not to the very first, which has the embedding.
Deal DealStages::evenlyWithLast(int64_t pp, int64_t last, int64_t users) const {
  int64_t others = pp - 1, rest = costs.pieces(where) - last;
  int64_t base = others ? rest / others : 0, more = others ? rest % others : 0;
  std::vector<Run> runs;
  for (int64_t s = 0, first = 0; s < pp; ++s) {
    bool gets = s >= 1 && s <= more;
    runs.push_back({first, s == others ? last : base + (gets ? 1 : 0)});
    first = runs.back().end();
  }
  return dealOf(runs, users);
}

Deal DealStages::evenly(int64_t pp, int64_t users) const {
  int64_t all = costs.pieces(where);
  if (pp == 1) {
    return evenlyWithLast(1, all, users);
  }
  Deal best;
  int64_t even = (all + pp - 1) / pp;
  for (int64_t last = std::min(even, all - (pp - 1)); last >= 0; --last) {
    Deal deal = evenlyWithLast(pp, last, users);
    if (best.stages.empty() || std::tie(deal.shortage, deal.slowest) <
                                   std::tie(best.shortage, best.slowest)) {
      best = std::move(deal);
    }
  }
  return best;
}

int64_t DealStages::programs(const Deal &deal) const {
  std::set<std::tuple<int64_t, int64_t, bool, bool>> kinds;
  for (const StagePlan &plan : deal.stages) {
    Run like = costs.likeOf({plan.first, plan.sections}, Cuts::Sections);
    kinds.insert({like.first, like.count, &plan == &deal.stages.front(),
                  &plan == &deal.stages.back()});
  }
  return int64_t(kinds.size());
}

RunTable &DealStages::tableOf(RunTable::Order order,
                              const RunTable::Limits &limits) {
  std::optional<RunTable> &table = tables[size_t(order)];
  if (!table || table->limits() != limits) {
    table.emplace(costs, where, order, limits);
  }
  return *table;
}

// The best of both orders: for throughput one has the fastest slowest stage,
// the other the least latency.
Deal DealStages::bySize(int64_t pp, int64_t users, Objective objective,
                        const RunTable::Limits &limits) {
  bool latency = objective == Objective::Latency;
  auto rank = [&](const Deal &deal) {
    return std::tuple(costOf(deal, users, objective),
                      latency ? deal.slowest : deal.latency, programs(deal));
  };
  Deal best;
  for (auto order : {RunTable::Order::Sum, RunTable::Order::Slowest}) {
    if (latency && order == RunTable::Order::Slowest) {
      break;
    }
    for (bool longest : {true, false}) {
      std::vector<Run> runs = tableOf(order, limits).best(pp, longest);
      if (runs.empty()) {
        continue;
      }
      Deal deal = dealOf(runs, users);
      if (best.stages.empty() || rank(deal) < rank(best)) {
        best = std::move(deal);
      }
    }
  }
  return best;
}

Deal DealStages::deal(int64_t pp, int64_t users, Objective objective) {
  Deal even = evenly(pp, users);
  if (pp == 1) {
    return even;
  }
  Tick cost = costOf(even, users, objective);
  RunTable::Limits limits{users, leastLack(pp, users)};
  bool lacks = even.shortage > limits.lack;
  // With room for all users a stage that is slower than what a token takes
  // evenly is no use; without such stages a table is small.
  if (objective == Objective::Throughput && users == pp && !lacks) {
    limits.most = cost;
  }
  Deal sized = bySize(pp, users, objective, limits);
  if (sized.stages.empty()) {
    return even;
  }
  Tick sizedCost = costOf(sized, users, objective);
  bool faster = sizedCost < cost - cost / kTold;
  bool moreAlike = sizedCost <= cost && sized.slowest <= even.slowest &&
                   programs(sized) < programs(even);
  return lacks || faster || moreAlike ? sized : even;
}

} // namespace orrery::partition
