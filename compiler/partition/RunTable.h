// The best ways to deal a model's pieces to any number of stages: for each
// suffix of the model and each number of stages the best one, by dynamic
// programming over runs that are costed once each.
#pragma once

#include "compiler/partition/StageCosts.h"

#include <map>

namespace orrery::partition {

class RunTable {
public:
  enum class Order : uint8_t {
    Sum,    ///< least ticks of all stages together, then of the slowest
    Slowest ///< least ticks of the slowest stage; few of all together
  };
  struct Limits {
    int64_t users = 1;     ///< whose KV caches each stage holds
    Bytes lack = 0;        ///< room that a stage may lack
    Tick most = INT64_MAX; ///< ticks that a stage may take
    bool operator==(const Limits &) const = default;
  };

  /// Costs all runs within the limits.
  RunTable(const StageCosts &costs, Cuts cuts, Order order, Limits limits);
  const Limits &limits() const { return within; }

  /// One run a stage, `pp` >= 2 of them; none where the limits allow none. Of
  /// ways that are equally good one whose stages are like ones before them, or
  /// else as long, or as short, as may be. O(pieces x the longest run) for each
  /// stage more than there were in any call before.
  std::vector<Run> best(int64_t pp, bool longest);

private:
  static constexpr Tick kNever = INT64_MAX / 4;
  /// What the stages of a suffix take.
  struct Way {
    Tick sum = kNever, slowest = kNever;
  };
  using Row = std::vector<Way>; ///< by the piece that the suffix begins with

  bool before(const Way &a, const Way &b) const {
    return order == Order::Sum
               ? std::pair(a.sum, a.slowest) < std::pair(b.sum, b.slowest)
               : std::pair(a.slowest, a.sum) < std::pair(b.slowest, b.sum);
  }
  static Way with(Tick ticks, const Way &behind) {
    return {ticks + behind.sum, std::max(ticks, behind.slowest)};
  }
  void costRunsFrom(int64_t first);
  Tick orNever(Tick ticks) const {
    return ticks > within.most ? kNever : ticks;
  }
  void addRow();
  Way bestFrom(int64_t first, const Row &behind, Tick more) const;
  /// The last stage of each kind, by the first run that is like it.
  using LastUse = std::map<std::pair<int64_t, int64_t>, int64_t>;
  /// The next stage of a best way: `left` is what it and those behind it may
  /// take in sum, and each of them.
  Run nextRun(int64_t first, const Row &behind, const Way &left, bool longest,
              const LastUse &lastUse) const;

  const StageCosts &costs;
  Cuts cuts;
  Order order;
  Limits within;
  int64_t pieces;
  /// Of runs that are not the last stage, by first piece and count - 1, without
  /// the embedding; kNever: not within the limits.
  std::vector<std::vector<Tick>> ticksOf;
  std::vector<Row> rows; ///< [s]: s + 1 stages, of which the last has the head
};

} // namespace orrery::partition
