#include "compiler/partition/ChainSearch.h"

#include <algorithm>
#include <tuple>

namespace orrery::partition {

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
bool ChainSearch::isFirst(const Group &group) {
  Group name = group;
  if (!ring) {
    std::sort(name.begin(), name.end());
  }
  return kept.insert(name).second;
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
    if (isFirst(partial)) {
      out.push_back(partial);
    }
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
                             std::vector<Way> &out) {
  if (partial.size() == tp) {
    if (isFirst(partial)) {
      out.push_back({{}, partial});
    }
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

void ChainSearch::mark(const Way &way, char as) {
  for (int32_t chip : way.group) {
    used[size_t(chip)] = as;
  }
  for (const Group &relay : way.relays) {
    for (int32_t chip : relay) {
      used[size_t(chip)] = as;
    }
  }
}

// Takes a group into the chain, unless too few chips can be reached from it.
bool ChainSearch::enter(const Way &way) {
  mark(way, 1);
  relaysLeft -= int64_t(way.relays.size());
  chain.push_back(way);
  if (chain.size() > longest.size()) {
    longest = chain;
  }
  if (chain.size() == pp ||
      (spendOnChain(graph.chips()) &&
       graph.reachable(way.group, used) >= int64_t((pp - chain.size()) * tp))) {
    return true;
  }
  leave();
  return false;
}

void ChainSearch::leave() {
  mark(chain.back(), 0);
  relaysLeft += int64_t(chain.back().relays.size());
  chain.pop_back();
}

// Straight on if that leads to an end, else over as few third chips as do.
bool ChainSearch::extend() {
  if (chain.size() == pp) {
    return true;
  }
  const Group from = chain.back().group;
  for (int64_t third = 0; third <= std::min(relaysLeft, kThirdChips); ++third) {
    std::vector<Way> ways;
    kept.clear();
    workForGroups = kWorkForWays;
    if (third == 0) {
      Group partial;
      waysOnward(from, partial, ways);
    } else {
      Way partial{std::vector<Group>(size_t(third)), {}};
      routesOnward(from, partial, ways);
    }
    if (tryWays(std::move(ways))) {
      return true;
    }
  }
  return false;
}

bool ChainSearch::tryWays(std::vector<Way> ways) {
  // What was looked at for them, and the look ahead of each way.
  int64_t spent =
      kWorkForWays - workForGroups + int64_t(ways.size()) * graph.chips();
  if (!spend(workForChain, spent) || !spend(work, spent)) {
    return false;
  }
  // What has few ways on must be taken now or never.
  std::ranges::sort(ways, {}, [&](const Way &way) {
    return std::tuple(freeAround(way.group), way.group);
  });
  for (const Way &way : ways) {
    if (enter(way)) {
      if (extend()) {
        return true;
      }
      leave();
    }
  }
  return false;
}

std::vector<Way> ChainSearch::run() {
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
      if (enter({{}, group})) {
        if (extend()) {
          return chain;
        }
        leave();
      }
    }
  }
  return longest;
}

} // namespace orrery::partition
