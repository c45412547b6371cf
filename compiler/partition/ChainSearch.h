// The search behind PlaceGroups.h.
#pragma once

#include "compiler/partition/LinkGraph.h"

#include <map>
#include <set>
#include <vector>

namespace orrery::partition {

/// Chips by rank.
using Group = std::vector<int32_t>;

/// A next group, and the relays that lead there.
struct Way {
  std::vector<Group> relays;
  Group group;
};

class ChainSearch {
public:
  ChainSearch(const LinkGraph &graph, int64_t tp, int64_t pp, bool ring,
              int64_t relays)
      : graph(graph), tp(size_t(tp)), pp(size_t(pp)), ring(ring),
        relaysLeft(relays), used(size_t(graph.chips()), 0),
        allowed(kWork +
                kChains * pp * (kWorkForWays + kLookAheads * graph.chips())),
        work(allowed) {}

  /// The chain, or as many groups as were found of one.
  std::vector<Way> run();
  bool gaveUp() const { return limited; }

private:
  // What bounds the search, in chips looked at: several times what a chain
  // takes that meets no dead end, and something for small systems.
  static constexpr int64_t kWorkForWays = 4'000, kWorkForStarts = 20'000;
  static constexpr int64_t kLookAheads = 2, kChains = 2, kWork = 300'000;
  static constexpr size_t kWaysOnward = 32, kStarts = 64;
  static constexpr int64_t kThirdChips = 3; ///< between two groups

  bool fits(const Group &group, int32_t chip) const;
  std::vector<int32_t> followers(const Group &partial) const;
  /// False, and noted, once an allowance is used up.
  bool spend(int64_t &left, int64_t what = 1) {
    limited |= left < what;
    return (left -= what) >= 0;
  }
  bool spendOnChain(int64_t what) {
    return spend(workForChain, what) && spend(work, what);
  }
  void startGroups(Group &partial, std::vector<Group> &out, size_t most);
  void waysOnward(const Group &from, Group &partial, std::vector<Way> &out);
  void routesOnward(const Group &from, Way &partial, std::vector<Way> &out);
  std::map<int32_t, Group> routes(int32_t from, const Way &partial);
  bool isFirst(const Group &group);
  bool extend();
  bool tryWays(std::vector<Way> ways);
  bool enter(const Way &way);
  void leave();
  void mark(const Way &way, char as);
  int64_t freeAround(const Group &group) const;

  const LinkGraph &graph;
  size_t tp, pp;
  bool ring, limited = false;
  int64_t relaysLeft;
  std::vector<char> used;
  std::vector<Way> chain, longest;
  std::set<Group> kept; ///< groups that one search for groups has found
  int64_t allowed;
  int64_t work, workForGroups = 0, workForChain = 0; ///< left
};

} // namespace orrery::partition
