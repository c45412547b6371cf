// Systems of chips for tests, and whether a placement's cables are there.
#pragma once

#include "compiler/partition/PlaceGroups.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace orrery::partition {

/// Cables by pairs of chips; each takes the next free port of both.
class Cabling {
public:
  explicit Cabling(int32_t chips) : free(size_t(chips), 0) {}

  void link(int32_t a, int32_t b) {
    links.push_back({a, free[size_t(a)]++, b, free[size_t(b)]++});
  }
  void linkOnce(int32_t a, int32_t b) {
    if (a != b && pairs.insert(std::minmax(a, b)).second) {
      link(a, b);
    }
  }

  /// lpu-v1 chips with these cables, in the order Machine.h promises.
  Machine machine() const {
    Machine m = *loadMachine("lpu-v1");
    m.name = "cabled";
    m.system.chips = int32_t(free.size());
    m.system.links = links;
    for (Link &link : m.system.links) {
      if (link.chip > link.otherChip) {
        std::swap(link.chip, link.otherChip);
        std::swap(link.port, link.otherPort);
      }
    }
    std::ranges::sort(m.system.links, {}, [](const Link &link) {
      return std::pair(link.chip, link.port);
    });
    return m;
  }

private:
  std::vector<int32_t> free; ///< port, by chip
  std::vector<Link> links;
  std::set<std::pair<int32_t, int32_t>> pairs;
};

/// Looks every promise of PlaceGroups.h up in the machine's own list of cables.
class CableCheck {
public:
  explicit CableCheck(const Machine &machine) {
    for (const Link &link : machine.system.links) {
      ++cables[std::minmax(link.chip, link.otherChip)];
    }
  }

  void check(const Placement &placement, int64_t tp, int64_t pp, bool ring) {
    int64_t stages = pp + placement.relays();
    ASSERT_EQ(int64_t(placement.stages.size()), stages);
    ASSERT_EQ(placement.ring, ring);
    ASSERT_FALSE(placement.stages.front().relay ||
                 placement.stages.back().relay);
    std::set<int32_t> used;
    for (size_t s = 0; s < placement.stages.size(); ++s) {
      const PlacedStage &stage = placement.stages[s];
      ASSERT_EQ(int64_t(stage.chips.size()), tp);
      used.insert(stage.chips.begin(), stage.chips.end());
      if (!stage.relay) {
        checkGroup(stage.chips, ring);
      }
      if (s > 0) {
        checkHop(placement.stages[s - 1].chips, stage.chips, placement.cables);
      }
    }
    ASSERT_EQ(int64_t(used.size()), tp * stages) << "a chip twice";
  }

private:
  int32_t between(int32_t a, int32_t b) const {
    auto found = cables.find(std::minmax(a, b));
    return found == cables.end() ? 0 : found->second;
  }
  void checkGroup(const std::vector<int32_t> &chips, bool ring) {
    size_t tp = chips.size();
    for (size_t r = 0; r < tp; ++r) {
      for (size_t j = 1; j <= (ring ? 1 : tp - 1); ++j) {
        EXPECT_GT(between(chips[r], chips[(r + j) % tp]), 0)
            << "chips " << chips[r] << " and " << chips[(r + j) % tp];
      }
    }
  }
  void checkHop(const std::vector<int32_t> &from,
                const std::vector<int32_t> &to, int32_t least) {
    EXPECT_GE(least, 1);
    for (size_t r = 0; r < from.size(); ++r) {
      EXPECT_GE(between(from[r], to[r]), least)
          << "chips " << from[r] << " and " << to[r];
    }
  }

  std::map<std::pair<int32_t, int32_t>, int32_t> cables;
};

} // namespace orrery::partition
