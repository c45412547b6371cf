#include "compiler/partition/PlaceGroups.h"

#include "compiler/partition/ChainSearch.h"

namespace orrery::partition {

namespace {

std::string count(int64_t n, const char *what) {
  return std::to_string(n) + " " + what;
}

Placement placementOf(const LinkGraph &graph, const std::vector<Way> &chain,
                      bool ring) {
  Placement out{ring, 1, {}};
  for (const Way &way : chain) {
    for (const Group &relay : way.relays) {
      out.stages.push_back({relay, true});
    }
    out.stages.push_back({way.group, false});
  }
  std::optional<int32_t> fewest;
  for (size_t s = 1; s < out.stages.size(); ++s) {
    for (size_t r = 0; r < out.stages[s].chips.size(); ++r) {
      int32_t cables =
          graph.cables(out.stages[s - 1].chips[r], out.stages[s].chips[r]);
      fewest = std::min(fewest.value_or(cables), cables);
    }
  }
  out.cables = fewest.value_or(1);
  return out;
}

} // namespace

PlaceOutcome placeGroups(const LinkGraph &graph, int64_t tp, int64_t pp,
                         bool ring, int64_t relays) {
  std::string kind = ring ? "in a ring" : "each to each";
  if (tp < 1 || pp < 1 || tp > graph.chips() || pp > graph.chips() / tp ||
      (ring && tp < 3)) {
    return {{},
            "expected " + count(pp, "groups of ") + count(tp, "chips linked ") +
                kind + ", found " + count(graph.chips(), "chips")};
  }
  ChainSearch search(graph, tp, pp, ring, relays);
  std::vector<Way> chain = search.run();
  auto longest = int64_t(chain.size());
  if (longest == pp) {
    return {placementOf(graph, chain, ring), "", longest};
  }
  // Over third chips, not every route is tried.
  std::string none =
      search.gaveUp() || relays > 0 ? "found no " : "there is no ";
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
