#include "compiler/partition/RunTable.h"

#include <algorithm>

namespace orrery::partition {

RunTable::RunTable(const StageCosts &costs, Cuts cuts, Order order,
                   Limits limits)
    : costs(costs), cuts(cuts), order(order), within(limits),
      pieces(costs.pieces(cuts)), ticksOf(size_t(pieces)) {
  Row last(size_t(pieces) + 1);
  for (int64_t first = 0; first < pieces; ++first) {
    costRunsFrom(first);
  }
  // From the shortest on: what contains what lacks room lacks room, too. A last
  // stage that has all is no suffix.
  for (int64_t first = pieces; first > 0; --first) {
    StagePlan plan =
        costs.stage({first, pieces - first}, true, within.users, cuts);
    if (costs.lack(plan) > within.lack) {
      break;
    }
    Tick ticks = orNever(plan.ticks.total());
    last[size_t(first)] = {ticks, ticks};
  }
  rows.push_back(std::move(last));
}

void RunTable::costRunsFrom(int64_t first) {
  std::vector<Tick> &ticks = ticksOf[size_t(first)];
  for (int64_t count = 1; first + count <= pieces; ++count) {
    Run run{first, count}, like = costs.likeOf(run, cuts);
    if (like.first < first) {
      const std::vector<Tick> &known = ticksOf[size_t(like.first)];
      if (size_t(count) > known.size()) {
        break;
      }
      ticks.push_back(known[size_t(count - 1)]);
      continue;
    }
    StagePlan plan = costs.stage(run, false, within.users, cuts);
    if (costs.lack(plan) > within.lack) {
      break;
    }
    Tick embedding = first == 0 ? costs.embeddingTicks() : 0;
    ticks.push_back(orNever(plan.ticks.total() - embedding));
  }
  while (!ticks.empty() && ticks.back() == kNever) {
    ticks.pop_back();
  }
}

RunTable::Way RunTable::bestFrom(int64_t first, const Row &behind,
                                 Tick more) const {
  Way best;
  const std::vector<Tick> &ticks = ticksOf[size_t(first)];
  for (size_t k = 0; k < ticks.size(); ++k) {
    Tick own = orNever(ticks[k] + more);
    Way way = with(own, behind[size_t(first) + k + 1]);
    if (way.sum < kNever && before(way, best)) {
      best = way;
    }
  }
  return best;
}

void RunTable::addRow() {
  Row row(size_t(pieces) + 1);
  for (int64_t first = 1; first < pieces; ++first) {
    row[size_t(first)] = bestFrom(first, rows.back(), 0);
  }
  rows.push_back(std::move(row));
}

Run RunTable::nextRun(int64_t first, const Row &behind, const Way &left,
                      bool longest, const LastUse &lastUse) const {
  const std::vector<Tick> &ticks = ticksOf[size_t(first)];
  Tick more = first == 0 ? costs.embeddingTicks() : 0;
  Run chosen;
  int64_t used = -1;
  for (size_t k = 0; k < ticks.size(); ++k) {
    auto count = int64_t(longest ? ticks.size() - k : k + 1);
    Way way =
        with(ticks[size_t(count - 1)] + more, behind[size_t(first + count)]);
    if (way.sum > left.sum || way.slowest > left.slowest) {
      continue;
    }
    Run run{first, count}, like = costs.likeOf(run, cuts);
    auto known = lastUse.find({like.first, like.count});
    int64_t use = first == 0 || known == lastUse.end() ? -1 : known->second;
    if (chosen.count == 0 || use > used) {
      chosen = run;
      used = use;
    }
  }
  return chosen;
}

std::vector<Run> RunTable::best(int64_t pp, bool longest) {
  while (int64_t(rows.size()) < pp - 1) {
    addRow();
  }
  std::vector<Run> runs;
  Way left = bestFrom(0, rows[size_t(pp - 2)], costs.embeddingTicks());
  if (left.sum == kNever) {
    return runs;
  }
  LastUse lastUse;
  int64_t first = 0;
  for (int64_t s = pp - 2; s >= 0; --s) {
    Run run = nextRun(first, rows[size_t(s)], left, longest, lastUse);
    if (first > 0) { // none is like the stage that has the embedding
      Run like = costs.likeOf(run, cuts);
      lastUse[{like.first, like.count}] = int64_t(runs.size());
    }
    left.sum = rows[size_t(s)][size_t(run.end())].sum;
    first = run.end();
    runs.push_back(run);
  }
  runs.push_back({first, pieces - first});
  return runs;
}

} // namespace orrery::partition
