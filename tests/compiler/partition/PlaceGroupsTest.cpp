// Chips for stages: every cable that is returned exists, what is there is
// found, and what is not is refused.
#include "compiler/partition/PlaceGroups.h"

#include "tests/compiler/partition/Cabling.h"

#include <chrono>
#include <functional>

namespace orrery::partition {
namespace {

using Groups = std::vector<std::vector<int32_t>>;

std::vector<int32_t> shuffled(int32_t count, std::mt19937_64 &random) {
  std::vector<int32_t> out;
  for (int32_t i = 0; i < count; ++i) {
    out.push_back(i);
  }
  for (size_t i = out.size(); i > 1; --i) {
    std::swap(out[i - 1], out[random() % i]);
  }
  return out;
}

/// A chain of groups somewhere among the chips, and `noise` other cables.
Machine planted(std::mt19937_64 &random, int32_t tp, int32_t pp, bool ring,
                int32_t idle, int32_t noise) {
  auto chips = shuffled(tp * pp + idle, random);
  auto chip = [&](int32_t stage, int32_t rank) {
    return chips[size_t(stage * tp + rank)];
  };
  Cabling cabling(int32_t(chips.size()));
  for (int32_t s = 0; s < pp; ++s) {
    for (int32_t r = 0; r < tp; ++r) {
      for (int32_t j = 1; j <= (ring ? 1 : tp - 1); ++j) {
        cabling.linkOnce(chip(s, r), chip(s, (r + j) % tp));
      }
      if (s + 1 < pp) {
        cabling.linkOnce(chip(s, r), chip(s + 1, r));
      }
    }
  }
  for (int32_t n = 0; n < noise; ++n) {
    cabling.linkOnce(int32_t(random() % chips.size()),
                     int32_t(random() % chips.size()));
  }
  return cabling.machine();
}

TEST(PlaceGroups, FindsWhatIsThere) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    bool ring = random() % 3 == 0;
    auto tp = int32_t(1 + random() % 6);
    tp = ring ? std::max(tp, 3) : tp;
    auto pp = int32_t(1 + random() % 8);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": tp " + std::to_string(tp) +
                 ", pp " + std::to_string(pp) + (ring ? ", ring" : ""));
    Machine machine = planted(random, tp, pp, ring, int32_t(random() % 5),
                              int32_t(random() % 8));
    PlaceOutcome outcome = placeGroups(LinkGraph(machine), tp, pp, ring);
    ASSERT_TRUE(outcome.placement) << outcome.refusal;
    CableCheck(machine).check(*outcome.placement, tp, pp, ring);
  }
}

/// Whether there is a chain at all, by trying every order of every chip.
bool exists(const LinkGraph &graph, size_t tp, size_t pp, bool ring) {
  std::vector<int32_t> taken;
  std::function<bool()> extend = [&] {
    if (taken.size() == tp * pp) {
      return true;
    }
    size_t rank = taken.size() % tp, start = taken.size() - rank;
    for (int32_t chip = 0; chip < graph.chips(); ++chip) {
      bool fits = std::find(taken.begin(), taken.end(), chip) == taken.end();
      for (size_t r = 0; r < rank; ++r) {
        bool needed = !ring || r + 1 == rank || (r == 0 && rank + 1 == tp);
        fits &= !needed || graph.linked(taken[start + r], chip);
      }
      fits &= start == 0 || graph.linked(taken[start - tp + rank], chip);
      if (fits) {
        taken.push_back(chip);
        if (extend()) {
          return true;
        }
        taken.pop_back();
      }
    }
    return false;
  };
  return extend();
}

TEST(PlaceGroups, AgreesWithTryingEverything) {
  int found = 0, refused = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    auto chips = int32_t(3 + random() % 6);
    Cabling cabling(chips);
    auto cables = int32_t(random() % uint64_t(3 * chips));
    for (int32_t n = 0; n < cables; ++n) {
      cabling.linkOnce(int32_t(random() % uint64_t(chips)),
                       int32_t(random() % uint64_t(chips)));
    }
    Machine machine = cabling.machine();
    LinkGraph graph(machine);
    for (int32_t tp = 1; tp <= 4; ++tp) {
      for (int32_t pp = 1; tp * pp <= chips; ++pp) {
        for (bool ring : {false, true}) {
          if (ring && tp < 3) {
            continue;
          }
          SCOPED_TRACE("seed " + std::to_string(seed) + ": tp " +
                       std::to_string(tp) + ", pp " + std::to_string(pp) +
                       (ring ? ", ring" : ""));
          PlaceOutcome outcome = placeGroups(graph, tp, pp, ring);
          ASSERT_EQ(outcome.placement.has_value(),
                    exists(graph, size_t(tp), size_t(pp), ring))
              << outcome.refusal;
          ++(outcome.placement ? found : refused);
          if (outcome.placement) {
            CableCheck(machine).check(*outcome.placement, tp, pp, ring);
          } else {
            EXPECT_EQ(outcome.refusal.rfind("there is no ", 0), 0u)
                << outcome.refusal;
          }
        }
      }
    }
  }
  EXPECT_GT(found, 500);
  EXPECT_GT(refused, 500);
}

TEST(PlaceGroups, SaysWhatIsMissing) {
  // Two triangles with one cable between them.
  Cabling cabling(6);
  for (auto [a, b] :
       {std::pair(0, 1), {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}) {
    cabling.link(a, b);
  }
  cabling.link(2, 3);
  LinkGraph graph(cabling.machine());
  EXPECT_EQ(placeGroups(graph, 3, 2, false).refusal,
            "there is no chain of 2 groups of 3 chips linked each to each and "
            "rank to rank; the longest found has 1");
  EXPECT_EQ(placeGroups(graph, 3, 2, false).longest, 1);
  EXPECT_EQ(placeGroups(graph, 4, 1, true).refusal,
            "there is no group of 4 chips linked in a ring");
  EXPECT_EQ(placeGroups(graph, 3, 3, false).refusal,
            "expected 3 groups of 3 chips linked each to each, found 6 chips");
  EXPECT_TRUE(placeGroups(graph, 1, 6, false).placement) << "one by one";
}

// As many as every rank has, all the way.
TEST(PlaceGroups, ParallelCables) {
  Cabling cabling(4);
  for (int n = 0; n < 3; ++n) {
    cabling.link(0, 2);
    cabling.link(3, 1);
  }
  cabling.link(0, 1);
  cabling.link(2, 3);
  cabling.link(2, 0);
  auto outcome = placeGroups(LinkGraph(cabling.machine()), 2, 2, false);
  ASSERT_TRUE(outcome.placement);
  EXPECT_EQ(outcome.placement->cables, 3);
  EXPECT_EQ(
      placeGroups(LinkGraph(cabling.machine()), 1, 4, false).placement->cables,
      1);
}

// Two pairs of chips with two others between them.
TEST(PlaceGroups, OverThirdChips) {
  Cabling far(6);
  for (auto [a, b] :
       {std::pair(0, 1), {2, 3}, {0, 4}, {4, 3}, {1, 5}, {5, 2}}) {
    far.link(a, b);
    far.link(a, b);
  }
  Machine machine = far.machine();
  LinkGraph graph(machine);
  EXPECT_FALSE(placeGroups(graph, 2, 2, false).placement);
  auto outcome = placeGroups(graph, 2, 2, false, 1);
  ASSERT_TRUE(outcome.placement) << outcome.refusal;
  CableCheck(machine).check(*outcome.placement, 2, 2, false);
  EXPECT_EQ(outcome.placement->relays(), 1);
  EXPECT_EQ(outcome.placement->cables, 2);
  EXPECT_EQ(outcome.placement->stages[1].chips, (std::vector{4, 5}));
  EXPECT_EQ(placeGroups(graph, 2, 3, false, 1).refusal,
            "found no chain of 3 groups of 2 chips linked each to each and "
            "rank to rank; the longest found has 2");
}

// Up to three one after another.
TEST(PlaceGroups, OverSeveralThirdChips) {
  for (int32_t third = 1; third <= 5; ++third) {
    Cabling cabling(2 * (third + 2));
    for (int32_t chip = 0; chip <= third; ++chip) {
      cabling.link(2 * chip, 2 * chip + 2);
      cabling.link(2 * chip + 1, 2 * chip + 3);
    }
    cabling.link(0, 1);
    cabling.link(2 * third + 2, 2 * third + 3);
    auto outcome = placeGroups(LinkGraph(cabling.machine()), 2, 2, false, 5);
    ASSERT_EQ(outcome.placement.has_value(), third <= 3) << third;
    EXPECT_TRUE(third > 3 || outcome.placement->relays() == third);
  }
}

// Chains planted with third chips between their groups are found, and whatever
// is found is there.
TEST(PlaceGroups, FindsPlantedRelays) {
  int relayed = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    auto tp = int32_t(1 + random() % 4), pp = int32_t(2 + random() % 3);
    bool ring = tp >= 3 && random() % 2 == 0;
    std::vector<int32_t> third; // behind each group
    int32_t relays = 0;
    for (int32_t s = 0; s + 1 < pp; ++s) {
      relays += third.emplace_back(int32_t(random() % 3));
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ": tp " + std::to_string(tp) +
                 ", pp " + std::to_string(pp) + ", relays " +
                 std::to_string(relays) + (ring ? ", ring" : ""));
    auto chips = shuffled(tp * (pp + relays), random);
    Cabling cabling(int32_t(chips.size()));
    size_t place = 0;
    auto chip = [&](size_t at, int32_t rank) {
      return chips[at * size_t(tp) + size_t(rank)];
    };
    for (int32_t s = 0; s < pp; ++s) {
      for (int32_t r = 0; r < tp; ++r) {
        for (int32_t j = 1; j <= (ring ? 1 : tp - 1); ++j) {
          cabling.linkOnce(chip(place, r), chip(place, (r + j) % tp));
        }
      }
      for (int32_t hop = 0; s + 1 < pp && hop <= third[size_t(s)]; ++hop) {
        for (int32_t r = 0; r < tp; ++r) {
          cabling.linkOnce(chip(place, r), chip(place + 1, r));
        }
        ++place;
      }
    }
    Machine machine = cabling.machine();
    PlaceOutcome outcome =
        placeGroups(LinkGraph(machine), tp, pp, ring, relays);
    ASSERT_TRUE(outcome.placement) << outcome.refusal;
    CableCheck(machine).check(*outcome.placement, tp, pp, ring);
    EXPECT_LE(outcome.placement->relays(), relays);
    relayed += outcome.placement->relays() > 0;
  }
  EXPECT_GT(relayed, 100);
}

struct PresetCase {
  const char *machine;
  int64_t tp, pp;
  bool ring;
  int64_t relays = 0;
};

// Every chip of the large systems, and in a fraction of a second.
TEST(PlaceGroups, Presets) {
  for (PresetCase c : {PresetCase{"lpu-v1-node", 8, 1, false},
                       {"lpu-v1-node", 4, 2, false},
                       {"lpu-v1-node", 2, 4, false},
                       {"lpu-v1-node", 1, 8, false},
                       {"lpu-v1-node", 8, 1, true},
                       {"lpu-small-ring", 4, 1, true},
                       {"lpu-small-ring", 2, 2, false},
                       {"lpu-v1-rack", 4, 18, false},
                       {"lpu-v1-rack", 8, 3, false, 6},
                       {"lpu-v1-576", 8, 72, false},
                       {"lpu-v1-576", 4, 144, false},
                       {"lpu-v1-576", 2, 288, false},
                       {"lpu-v1-576", 1, 576, false},
                       {"lpu-v1-576", 16, 36, true},
                       {"lp30-rack", 8, 32, false}}) {
    SCOPED_TRACE(std::string(c.machine) + " tp " + std::to_string(c.tp) +
                 " pp " + std::to_string(c.pp));
    Machine machine = *loadMachine(c.machine);
    auto start = std::chrono::steady_clock::now();
    PlaceOutcome outcome =
        placeGroups(LinkGraph(machine), c.tp, c.pp, c.ring, c.relays);
    auto took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(std::chrono::duration<double>(took).count(), 1.0);
    ASSERT_TRUE(outcome.placement) << outcome.refusal;
    CableCheck(machine).check(*outcome.placement, c.tp, c.pp, c.ring);
  }
}

} // namespace
} // namespace orrery::partition
