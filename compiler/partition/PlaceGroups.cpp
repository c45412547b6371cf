#include "compiler/partition/PlaceGroups.h"

#include "dialects/grid/GroupLinks.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

namespace orrery::partition {

namespace {

using Group = std::vector<int32_t>;

class ChainSearch {
public:
  ChainSearch(const LinkGraph &graph, int64_t tp, int64_t pp, bool ring)
      : graph(graph), tp(size_t(tp)), pp(size_t(pp)), ring(ring),
        used(size_t(graph.chips()), 0),
        allowed(kWork +
                kChains * pp * (kWorkForWays + kLookAheads * graph.chips())),
        work(allowed) {}

  /// The chain, or as much as was found of one.
  std::vector<Group> run();
  bool gaveUp() const { return limited; }

private:
  // What bounds the search, in chips looked at: several times what a chain
  // takes that meets no dead end, and something for small systems.
  static constexpr int64_t kWorkForWays = 4'000, kWorkForStarts = 20'000;
  static constexpr int64_t kLookAheads = 2, kChains = 2, kWork = 300'000;
  static constexpr size_t kWaysOnward = 32, kStarts = 64;

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
  void waysOnward(const Group &from, Group &partial, std::vector<Group> &out);
  void keep(const Group &group, std::vector<Group> &out);
  bool extend();
  bool enter(const Group &group);
  void leave();
  int64_t freeAround(const Group &group) const;

  const LinkGraph &graph;
  size_t tp, pp;
  bool ring, limited = false;
  std::vector<char> used;
  std::vector<Group> chain, longest;
  std::set<Group> kept; ///< groups that one search for groups has found
  int64_t allowed;
  int64_t work, workForGroups = 0, workForChain = 0; ///< left
};

// Whether `chip` may be the next rank of an unfinished group.
bool ChainSearch::fits(const Group &group, int32_t chip) const {
  if (used[size_t(chip)] ||
      std::find(group.begin(), group.end(), chip) != group.end()) {
    return false;
  }
  if (!ring) {
    return std::all_of(group.begin(), group.end(),
                       [&](int32_t c) { return graph.linked(c, chip); });
  }
  return (group.empty() || graph.linked(group.back(), chip)) &&
         (group.size() + 1 < tp || graph.linked(chip, group.front()));
}

// In a group linked each to each the order of ranks is free: one is enough.
void ChainSearch::keep(const Group &group, std::vector<Group> &out) {
  Group name = group;
  if (!ring) {
    std::sort(name.begin(), name.end());
  }
  if (kept.insert(name).second) {
    out.push_back(group);
  }
}

// The chips that may follow. In a ring those first that have most cables to the
// group, so that it stays together, and last those that can close it.
std::vector<int32_t> ChainSearch::followers(const Group &partial) const {
  std::vector<int32_t> out;
  for (int32_t chip : graph.neighbours(partial.back())) {
    bool ordered = ring ? chip > partial.front() : chip > partial.back();
    if (ordered && fits(partial, chip)) {
      out.push_back(chip);
    }
  }
  if (ring) {
    std::ranges::sort(out, {}, [&](int32_t chip) {
      auto cables = std::ranges::count_if(
          partial, [&](int32_t c) { return graph.linked(c, chip); });
      return std::tuple(-cables, graph.linked(chip, partial.front()), chip);
    });
  }
  return out;
}

// Groups whose lowest chip is their first.
void ChainSearch::startGroups(Group &partial, std::vector<Group> &out,
                              size_t most) {
  if (partial.size() == tp) {
    keep(partial, out);
    return;
  }
  for (int32_t chip : followers(partial)) {
    if (out.size() >= most || !spend(workForGroups)) {
      return;
    }
    partial.push_back(chip);
    startGroups(partial, out, most);
    partial.pop_back();
  }
}

// Groups that `from` is linked to, rank to rank.
void ChainSearch::waysOnward(const Group &from, Group &partial,
                             std::vector<Group> &out) {
  if (partial.size() == tp) {
    keep(partial, out);
    return;
  }
  for (int32_t chip : graph.neighbours(from[partial.size()])) {
    if (out.size() >= kWaysOnward) {
      limited = true;
      return;
    }
    if (!spend(workForGroups)) {
      return;
    }
    if (fits(partial, chip)) {
      partial.push_back(chip);
      waysOnward(from, partial, out);
      partial.pop_back();
    }
  }
}

int64_t ChainSearch::freeAround(const Group &group) const {
  int64_t count = 0;
  for (int32_t chip : group) {
    for (int32_t next : graph.neighbours(chip)) {
      count += used[size_t(next)] ? 0 : 1;
    }
  }
  return count;
}

// Takes a group into the chain, unless too few chips can be reached from it.
bool ChainSearch::enter(const Group &group) {
  for (int32_t chip : group) {
    used[size_t(chip)] = 1;
  }
  chain.push_back(group);
  if (chain.size() > longest.size()) {
    longest = chain;
  }
  if (chain.size() == pp ||
      (spendOnChain(graph.chips()) &&
       graph.reachable(group, used) >= int64_t((pp - chain.size()) * tp))) {
    return true;
  }
  leave();
  return false;
}

void ChainSearch::leave() {
  for (int32_t chip : chain.back()) {
    used[size_t(chip)] = 0;
  }
  chain.pop_back();
}

bool ChainSearch::extend() {
  if (chain.size() == pp) {
    return true;
  }
  std::vector<Group> ways;
  Group partial;
  kept.clear();
  workForGroups = kWorkForWays;
  waysOnward(chain.back(), partial, ways);
  // What was looked at here, and the look ahead of each way.
  int64_t spent =
      kWorkForWays - workForGroups + int64_t(ways.size()) * graph.chips();
  if (!spend(workForChain, spent) || !spend(work, spent)) {
    return false;
  }
  // What has few ways on must be taken now or never.
  std::vector<std::pair<int64_t, Group>> ordered;
  for (const Group &way : ways) {
    ordered.push_back({freeAround(way), way});
  }
  std::sort(ordered.begin(), ordered.end());
  for (const auto &[ignored, way] : ordered) {
    if (enter(way)) {
      if (extend()) {
        return true;
      }
      leave();
    }
  }
  return false;
}

std::vector<Group> ChainSearch::run() {
  for (int32_t chip = 0; chip < graph.chips(); ++chip) {
    if (!spend(work)) {
      return longest;
    }
    std::vector<Group> groups;
    Group partial{chip};
    kept.clear();
    workForGroups = kWorkForStarts;
    startGroups(partial, groups, pp == 1 ? 1 : kStarts);
    work -= kWorkForStarts - workForGroups;
    limited |= groups.size() >= kStarts;
    for (const Group &group : groups) {
      workForChain = allowed / kChains;
      if (enter(group)) {
        if (extend()) {
          return chain;
        }
        leave();
      }
    }
  }
  return longest;
}

std::string count(int64_t n, const char *what) {
  return std::to_string(n) + " " + what;
}

} // namespace

Placement wire(const LinkGraph &graph, const std::vector<Group> &groups,
               bool ring) {
  Placement out{ring, {}};
  for (size_t s = 0; s < groups.size(); ++s) {
    const Group &group = groups[s];
    size_t tp = group.size();
    PlacedStage stage{group, {}};
    for (size_t r = 0; r < tp; ++r) {
      std::vector<LinkPorts> links;
      auto port = [&](int32_t other) {
        return graph.ports(group[r], other).first;
      };
      for (int32_t j = 1; j <= grid::groupLinks(int64_t(tp), ring); ++j) {
        links.push_back({port(group[(r + size_t(j)) % tp]),
                         port(group[(r + tp - size_t(j)) % tp])});
      }
      if (groups.size() > 1) { // grid::pipelineLink
        links.push_back({s + 1 < groups.size() ? port(groups[s + 1][r]) : -1,
                         s > 0 ? port(groups[s - 1][r]) : -1});
      }
      stage.links.push_back(std::move(links));
    }
    out.stages.push_back(std::move(stage));
  }
  return out;
}

PlaceOutcome placeGroups(const LinkGraph &graph, int64_t tp, int64_t pp,
                         bool ring) {
  std::string kind = ring ? "in a ring" : "each to each";
  if (tp < 1 || pp < 1 || tp > graph.chips() || pp > graph.chips() / tp ||
      (ring && tp < 3)) {
    return {{},
            "expected " + count(pp, "groups of ") + count(tp, "chips linked ") +
                kind + ", found " + count(graph.chips(), "chips")};
  }
  ChainSearch search(graph, tp, pp, ring);
  std::vector<Group> chain = search.run();
  auto longest = int64_t(chain.size());
  if (longest == pp) {
    return {wire(graph, chain, ring), "", longest};
  }
  std::string none = search.gaveUp() ? "found no " : "there is no ";
  if (chain.empty()) {
    return {{}, none + "group of " + count(tp, "chips linked ") + kind};
  }
  return {{},
          none + "chain of " + count(pp, "groups of ") +
              count(tp, "chips linked ") + kind +
              " and rank to rank; the longest found has " +
              std::to_string(longest),
          longest};
}

} // namespace orrery::partition
