#include "machine/RegionOverlap.h"

#include <algorithm>
#include <limits>
#include <map>

namespace orrery {

namespace {

struct Lifetime {
  Tick born, dies;
};

Lifetime lifetimeOf(const SramRegion &region) {
  if (region.kind == RegionKind::Temporary) {
    return {region.born, region.dies};
  }
  return {std::numeric_limits<Tick>::min(), std::numeric_limits<Tick>::max()};
}

/// A region comes to life or dies.
struct Event {
  Tick tick;
  bool birth; ///< false first: what dies at t makes room for what is born at t
  size_t region;
  auto operator<=>(const Event &) const = default;
};

/// The regions alive at one time in one bank of one slice, by their bases. They
/// are disjoint, so only neighbours can meet a new one.
using LiveRegions = std::map<uint64_t, size_t>;

/// A live region that shares an address with `added`.
std::optional<size_t> inTheWay(const LiveRegions &live, const SramRegion &added,
                               const std::vector<SramRegion> &regions) {
  auto after = live.lower_bound(added.base);
  if (after != live.end() &&
      after->first < uint64_t(added.base) + added.length) {
    return after->second;
  }
  if (after != live.begin()) {
    const SramRegion &before = regions[std::prev(after)->second];
    if (uint64_t(before.base) + before.length > added.base) {
      return std::prev(after)->second;
    }
  }
  return std::nullopt;
}

std::vector<Event> eventsOf(const std::vector<SramRegion> &regions) {
  std::vector<Event> events;
  for (size_t i = 0; i < regions.size(); ++i) {
    auto [born, dies] = lifetimeOf(regions[i]);
    events.push_back({born, true, i});
    events.push_back({dies, false, i});
  }
  std::ranges::sort(events);
  return events;
}

} // namespace

std::optional<std::pair<size_t, size_t>>
findOverlap(const std::vector<SramRegion> &regions, int32_t slices,
            int32_t banks) {
  std::vector<LiveRegions> places(size_t(slices) * banks);
  for (const Event &event : eventsOf(regions)) {
    const SramRegion &region = regions[event.region];
    for (size_t k = 0; k < region.width; ++k) {
      LiveRegions &live = places[(region.slice + k) * banks + region.bank];
      if (!event.birth) {
        live.erase(region.base);
      } else if (auto other = inTheWay(live, region, regions)) {
        return std::minmax(*other, event.region);
      } else {
        live.emplace(region.base, event.region);
      }
    }
  }
  return std::nullopt;
}

} // namespace orrery
