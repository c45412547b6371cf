// A model dealt to a given number of stages, for one width of groups. Not here:
// what a stage costs (StageCosts), and how many there are to be (ChooseSplit).
#pragma once

#include "compiler/partition/RunTable.h"

#include <map>
#include <optional>

namespace orrery::partition {

/// Estimates do not tell deals apart that differ by less than this part.
inline constexpr Tick kTold = 100;

/// A token's ticks in a deal of `users` who take turns.
inline Tick ticksOfToken(const Deal &deal, int64_t users) {
  return std::max(deal.slowest, deal.latency / users);
}

/// What is to be least.
inline Tick costOf(const Deal &deal, int64_t users, Objective objective) {
  return objective == Objective::Latency ? deal.latency
                                         : ticksOfToken(deal, users);
}

class DealStages {
public:
  DealStages(const StageCosts &costs, Cuts cuts) : costs(costs), where(cuts) {}
  Cuts cuts() const { return where; }

  /// The fewest stages that have room, with KV caches for `users`; any more up
  /// to mostStages() have, too. None: a piece, or the head, has none alone.
  std::optional<int64_t> fewest(int64_t users);
  int64_t mostStages() const { return costs.mostStages(where); }
  /// The most users, up to one a stage, whose KV caches `pp` stages have room
  /// for; `pp` is at least fewest(1).
  int64_t mostUsers(int64_t pp);
  /// What the stage lacks that lacks most, of 1 .. mostStages() stages that are
  /// dealt so that it lacks least; 0: all have room.
  Bytes leastLack(int64_t pp, int64_t users);

  /// 1 .. mostStages() stages that lack no more than that: evenly, unless that
  /// lacks more, or the best deal is told apart as faster (in latency; for
  /// throughput in a token's ticks), or is no slower and takes fewer programs.
  Deal deal(int64_t pp, int64_t users, Objective objective);
  /// By count: stages have as many pieces or one more, but for the last one,
  /// which has as many as make the slowest stage fastest.
  Deal evenly(int64_t pp, int64_t users) const;
  /// Programs that it takes: stages that are alike share one.
  int64_t programs(const Deal &deal) const;

private:
  std::optional<int64_t> fewestLacking(Bytes lack, int64_t users) const;
  Deal dealOf(const std::vector<Run> &runs, int64_t users) const;
  Deal evenlyWithLast(int64_t pp, int64_t last, int64_t users) const;
  Deal bySize(int64_t pp, int64_t users, Objective objective,
              const RunTable::Limits &limits);
  RunTable &tableOf(RunTable::Order order, const RunTable::Limits &limits);

  const StageCosts &costs;
  Cuts where;
  std::map<int64_t, std::optional<int64_t>> fewestOf; ///< by users
  /// By order, for any number of stages: with the limits last asked for.
  std::optional<RunTable> tables[2];
};

} // namespace orrery::partition
