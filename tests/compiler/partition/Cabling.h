// Systems of chips for tests, and whether a placement's cables are there.
#pragma once

#include "compiler/partition/PlaceGroups.h"
#include "dialects/grid/GroupLinks.h"

#include "gtest/gtest.h"

#include <algorithm>
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
      ends[{link.chip, link.port}] = {link.otherChip, link.otherPort};
      ends[{link.otherChip, link.otherPort}] = {link.chip, link.port};
    }
  }

  void check(const Placement &placement, int64_t tp, int64_t pp, bool ring) {
    ASSERT_EQ(int64_t(placement.stages.size()), pp);
    ASSERT_EQ(placement.ring, ring);
    std::set<int32_t> used;
    for (size_t s = 0; s < placement.stages.size(); ++s) {
      ASSERT_EQ(int64_t(placement.stages[s].chips.size()), tp);
      used.insert(placement.stages[s].chips.begin(),
                  placement.stages[s].chips.end());
      checkStage(placement, s);
    }
    ASSERT_EQ(int64_t(used.size()), tp * pp) << "a chip twice";
  }

private:
  void checkStage(const Placement &placement, size_t s) {
    const PlacedStage &stage = placement.stages[s];
    size_t tp = stage.chips.size();
    int32_t inside = grid::groupLinks(int64_t(tp), placement.ring);
    bool first = s == 0, last = s + 1 == placement.stages.size();
    for (size_t r = 0; r < tp; ++r) {
      const auto &links = stage.links.at(r);
      ASSERT_EQ(int32_t(links.size()), inside + (first && last ? 0 : 1));
      for (size_t j = 1; j <= size_t(inside); ++j) {
        size_t to = (r + j) % tp, from = (r + tp - j) % tp;
        expectCable(stage, r, links[j - 1].out, stage, to,
                    stage.links[to][j - 1].in);
        expectCable(stage, from, stage.links[from][j - 1].out, stage, r,
                    links[j - 1].in);
      }
      if (!last) {
        const PlacedStage &next = placement.stages[s + 1];
        auto number =
            size_t(grid::pipelineLink(int64_t(tp), placement.ring)) - 1;
        expectCable(stage, r, links.at(number).out, next, r,
                    next.links.at(r).at(number).in);
      }
      if (!(first && last)) {
        EXPECT_EQ(links.back().out == -1, last);
        EXPECT_EQ(links.back().in == -1, first);
      }
    }
  }

  void expectCable(const PlacedStage &a, size_t rank, int32_t port,
                   const PlacedStage &b, size_t otherRank, int32_t otherPort) {
    auto end = ends.find({a.chips[rank], port});
    ASSERT_NE(end, ends.end())
        << "chip " << a.chips[rank] << " port " << port << ": no cable";
    EXPECT_EQ(end->second, std::pair(b.chips[otherRank], otherPort));
  }

  std::map<std::pair<int32_t, int32_t>, std::pair<int32_t, int32_t>> ends;
};

} // namespace orrery::partition
