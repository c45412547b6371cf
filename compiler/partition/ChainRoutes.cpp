// Ways from group to group over third chips.
#include "compiler/partition/ChainSearch.h"

#include <algorithm>

namespace orrery::partition {

// What a chip can reach over as many free chips as the way has relays: chips,
// and of the routes there the first.
std::map<int32_t, Group> ChainSearch::routes(int32_t from, const Way &partial) {
  auto taken = [&](int32_t chip) {
    auto in = [&](const Group &group) {
      return std::ranges::find(group, chip) != group.end();
    };
    return used[size_t(chip)] || in(partial.group) ||
           std::ranges::any_of(partial.relays, in);
  };
  std::map<int32_t, Group> ends{{from, {}}};
  for (size_t hop = 0; hop <= partial.relays.size(); ++hop) {
    std::map<int32_t, Group> further;
    for (const auto &[end, route] : ends) {
      if (!spend(workForGroups, int64_t(graph.neighbours(end).size()))) {
        return {};
      }
      for (int32_t chip : graph.neighbours(end)) {
        if (!taken(chip) && std::ranges::find(route, chip) == route.end()) {
          Group &longer = further.try_emplace(chip, route).first->second;
          if (longer.size() == hop) {
            longer.push_back(chip);
          }
        }
      }
    }
    ends = std::move(further);
  }
  return ends;
}

// Groups that `from` reaches over third chips, rank to rank.
void ChainSearch::routesOnward(const Group &from, Way &partial,
                               std::vector<Way> &out) {
  if (partial.group.size() == tp) {
    if (isFirst(partial.group)) {
      out.push_back(partial);
    }
    return;
  }
  for (const auto &[chip, route] :
       routes(from[partial.group.size()], partial)) {
    if (out.size() >= kWaysOnward || !spend(workForGroups)) {
      limited = true;
      return;
    }
    if (fits(partial.group, chip)) {
      partial.group.push_back(chip);
      for (size_t hop = 0; hop < partial.relays.size(); ++hop) {
        partial.relays[hop].push_back(route[hop]);
      }
      routesOnward(from, partial, out);
      partial.group.pop_back();
      for (Group &relay : partial.relays) {
        relay.pop_back();
      }
    }
  }
}

} // namespace orrery::partition
