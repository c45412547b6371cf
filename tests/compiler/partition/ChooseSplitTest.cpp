// Which split is chosen, and what of it holds whatever is asked for.
#include "compiler/partition/Partition.h"

#include "tests/compiler/partition/Cabling.h"
#include "tests/compiler/partition/DealLayers.h"
#include "tests/compiler/partition/SplitShapes.h"

namespace orrery::partition {
namespace {

void expectWhole(const Machine &machine, const StepShape &shape,
                 const Split &split) {
  ASSERT_EQ(int64_t(split.stages.size()), split.pp);
  int64_t section = 0;
  Tick latency = 0, slowest = 0;
  for (const StagePlan &stage : split.stages) {
    EXPECT_EQ(stage.first, section);
    EXPECT_TRUE(stage.sections >= 1 || &stage == &split.stages.back());
    EXPECT_EQ(shortage(machine, stage.bytes), 0);
    EXPECT_LE(stage.bytes.total(), machine.sramBytes());
    section += stage.sections;
    latency += stage.ticks.total();
    slowest = std::max(slowest, stage.ticks.total());
  }
  EXPECT_EQ(section, kSections * int64_t(shape.layers.size()));
  // Relays take time, and are no stage's.
  EXPECT_EQ(split.latency > latency, split.placement.relays() > 0);
  EXPECT_GE(split.latency, latency);
  EXPECT_EQ(split.slowest, slowest);
  CableCheck(machine).check(split.placement, split.tp, split.pp,
                            split.placement.ring);
}

TEST(ChooseSplit, LeastLatencyOfAllThatIsPossible) {
  Machine machine = preset("lpu-v1-576");
  StepShape shape = llama7b();
  Expected<Split> best = chooseSplit(machine, shape);
  ASSERT_TRUE(best) << best.error().message;
  expectWhole(machine, shape, *best);
  for (int64_t tp = 1; tp <= 12; ++tp) {
    for (int64_t pp : {1, 2, 4, 7, 8, 16, 32}) {
      if (auto other = findSplit(machine, shape, {tp, pp})) {
        expectWhole(machine, shape, *other);
        EXPECT_EQ(other->tp, tp);
        EXPECT_EQ(other->pp, pp);
        EXPECT_LE(best->latency, other->latency)
            << "tp " << tp << ", pp " << pp;
      }
    }
  }
}

// Of two nodes of a rack only four chips have cables to each other.
TEST(ChooseSplit, OverThirdChips) {
  Machine machine = preset("lpu-v1-rack");
  StepShape shape = llama7b(WeightFormat::Q4, 320);
  auto split = chooseSplit(machine, shape, {8, 4});
  ASSERT_TRUE(split) << split.error().message;
  expectWhole(machine, shape, *split);
  EXPECT_GE(split->placement.relays(), 3);
  EXPECT_EQ(split->placement.cables, 1);
  // Such a width is chosen when it is faster in spite of them.
  auto best = chooseSplit(machine, shape);
  ASSERT_TRUE(best);
  EXPECT_LE(best->latency, split->latency);
  // All chips are on stages: none are left between them.
  auto refused = chooseSplit(machine, shape, {8, 9});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("no chain of 9 groups of 8"),
            std::string::npos)
      << refused.error().message;
}

/// `groups` pairs of chips, with two others between each and the next.
Machine pairsInALine(int32_t groups) {
  Cabling cabling(4 * groups - 2);
  for (int32_t chip = 0; chip + 2 < 4 * groups - 2; chip += 2) {
    cabling.link(chip, chip + 2);
    cabling.link(chip + 1, chip + 3);
  }
  for (int32_t chip = 0; chip < 4 * groups - 2; chip += 4) {
    cabling.link(chip, chip + 1);
  }
  return cabling.machine();
}

// However many stages that takes: of fewer, more chips are left between them.
TEST(ChooseSplit, OverThirdChipsWithStagesToChoose) {
  int routed = 0;
  for (auto objective : {Objective::Latency, Objective::Throughput}) {
    for (int32_t groups = 2; groups <= 6; ++groups) {
      Machine machine = pairsInALine(groups);
      for (size_t layers : {1, 3, 5, 8}) {
        SCOPED_TRACE(std::to_string(groups) + " pairs, " +
                     std::to_string(layers) + " layers");
        StepShape shape = llama7b(WeightFormat::Q4, 320);
        shape.layers.resize(layers);
        auto cost = [&](const Split &split) {
          return objective == Objective::Latency
                     ? split.latency
                     : std::max(split.slowest, split.latency / split.users);
        };
        std::optional<Tick> least;
        for (int64_t pp = 1; pp <= groups; ++pp) {
          if (auto asked = findSplit(machine, shape, {2, pp, objective})) {
            expectWhole(machine, shape, *asked);
            least = std::min(least.value_or(INT64_MAX), cost(*asked));
          }
        }
        auto free = findSplit(machine, shape, {2, 0, objective});
        ASSERT_EQ(bool(free), least.has_value());
        if (!free) { // eight layers on two pairs
          continue;
        }
        routed += free->placement.relays() > 0;
        expectWhole(machine, shape, *free);
        // A cut network must be worth 1 %.
        EXPECT_LE(cost(*free) * 100, *least * 101);
      }
    }
  }
  EXPECT_GT(routed, 20);
}

// Four chips of two nodes each, straight: chip r to chip r by four cables.
TEST(ChooseSplit, OverParallelCables) {
  Cabling cabling(8);
  for (int32_t r = 0; r < 4; ++r) {
    for (int32_t other = r + 1; other < 4; ++other) {
      cabling.link(r, other);
      cabling.link(4 + r, 4 + other);
    }
    for (int32_t cable = 0; cable < 4; ++cable) {
      cabling.link(r, 4 + r);
    }
  }
  auto split =
      chooseSplit(cabling.machine(), llama7b(WeightFormat::Q4, 320), {4, 2});
  EXPECT_FALSE(split) << "7B does not fit eight chips";
  StepShape shape = llama7b(WeightFormat::Q4, 320);
  shape.layers.resize(6);
  split = chooseSplit(cabling.machine(), shape, {4, 2});
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_EQ(split->placement.cables, 4);
}

TEST(ChooseSplit, ThroughputIsNoSlower) {
  Machine machine = preset("lpu-v1-576");
  for (int64_t context : {320, 4096}) {
    StepShape shape = llama7b(WeightFormat::Q8, context);
    auto rate = [](const Split &split) {
      return std::max(split.slowest, split.latency / split.users);
    };
    auto quick = chooseSplit(machine, shape);
    auto busy = chooseSplit(machine, shape, {0, 0, Objective::Throughput});
    ASSERT_TRUE(quick && busy);
    expectWhole(machine, shape, *busy);
    EXPECT_LT(rate(*busy), rate(*quick));
    EXPECT_LE(quick->latency, busy->latency);
    EXPECT_EQ(quick->users, 1);
    // Each stage has room for the caches of all users, and of no more.
    auto deal = [&](int64_t users) {
      return dealLayers(machine, shape, busy->tp, busy->pp,
                        busy->placement.ring, users);
    };
    EXPECT_EQ(deal(busy->users).shortage, 0);
    EXPECT_TRUE(busy->users == busy->pp || deal(busy->users + 1).shortage > 0);
  }
}

TEST(ChooseSplit, SeventyBillionOnAllChips) {
  Machine machine = preset("lpu-v1-576");
  StepShape shape = llama70b(WeightFormat::Q4);
  auto split = chooseSplit(machine, shape);
  ASSERT_TRUE(split) << split.error().message;
  expectWhole(machine, shape, *split);
  EXPECT_EQ(split->tp, 8);
}

// A head that takes as long as some layers: the last stage gets fewer.
TEST(ChooseSplit, TheLastStageHasTheHead) {
  Machine machine = preset("lpu-v1-576");
  StepShape shape = small(12);
  shape.vocab = shape.head.rows = 1 << 19;
  TickModel model(machine, shape, 2, false);
  Tick head = model.head(shape.head).total();
  ASSERT_GT(head, 2 * model.layer(shape.layers[0]).total());
  Tick behind = model.betweenStages(shape.layers[0], Section::Down).total();
  // Of attentions and feed-forward networks: there is room, so none is cut.
  auto ticks = [&](int64_t first, int64_t count) {
    Tick sum = 0;
    for (int64_t s = first; s < first + count; ++s) {
      auto of = [&](Section kind) {
        return model.section(shape.layers[0], kind).total();
      };
      sum += s % 2 == 0 ? of(Section::Attention)
                        : of(Section::Gated) + of(Section::Down);
    }
    return sum;
  };
  for (int64_t pp = 2; pp <= 12; ++pp) {
    SCOPED_TRACE("pp " + std::to_string(pp));
    Deal deal = dealLayers(machine, shape, 2, pp, false);
    Tick least = INT64_MAX;
    for (int64_t last = 0; last <= 24 - (pp - 1); ++last) {
      // The others share the rest; odd ones go to those behind the first.
      int64_t rest = 24 - last, base = rest / (pp - 1), more = rest % (pp - 1);
      Tick slowest = ticks(rest, last) + head;
      for (int64_t s = 0, first = 0; s + 1 < pp; ++s) {
        int64_t count = base + (s >= 1 && s <= more ? 1 : 0);
        slowest =
            std::max(slowest, ticks(first, count) + behind +
                                  (s == 0 ? model.embedding().total() : 0));
        first += count;
      }
      least = std::min(least, slowest);
    }
    EXPECT_EQ(deal.slowest, least);
    EXPECT_LT(deal.stages.back().sections, deal.stages.front().sections);
  }
}

bool cutsFeedForwards(const Split &split) {
  return std::ranges::any_of(split.stages, [](const StagePlan &stage) {
    return stage.sections > 0 && kindOf(stage.first) == Section::Down;
  });
}

// Attentions and feed-forward networks while there are as many, then
// feed-forward networks in two, up to a section a stage and the head alone.
TEST(ChooseSplit, SectionsOfAnyCountInAnyStages) {
  Machine machine = preset("lpu-v1-576");
  for (int64_t layers = 1; layers <= 7; ++layers) {
    StepShape shape = small(layers);
    StageCosts costs(machine, shape, 2, false);
    for (int64_t pp = 1; pp <= kSections * layers + 1; ++pp) {
      SCOPED_TRACE(std::to_string(layers) + " layers, pp " +
                   std::to_string(pp));
      auto split = chooseSplit(machine, shape, {2, pp});
      ASSERT_TRUE(split) << split.error().message;
      expectWhole(machine, shape, *split);
      bool cut = pp > 2 * layers + 1;
      EXPECT_EQ(split->cut, cut);
      EXPECT_TRUE(cut || !cutsFeedForwards(*split));
      Deal even = DealStages(costs, cut ? Cuts::Sections : Cuts::Sublayers)
                      .evenly(pp, 1);
      EXPECT_LE(split->latency, even.latency);
    }
  }
}

Machine with(int64_t chips) {
  std::string json = formatMachine(preset("lpu-v1-576"));
  const std::string before = "\"chips\":576";
  size_t at = json.find(before);
  EXPECT_NE(at, std::string::npos) << json;
  json.replace(at, before.size(), "\"chips\":" + std::to_string(chips));
  auto machine = parseMachine(json, "more or fewer chips");
  EXPECT_TRUE(machine) << machine.error().message;
  return *machine;
}

// An eighth of one and a half layers in 8 bits is more than a chip takes. With
// feed-forward networks cut in two 72 groups of 8 are enough for 80 layers, and
// 80 are enough without cuts.
TEST(ChooseSplit, SeventyBillionInEightBits) {
  StepShape shape = llama70b(WeightFormat::Q8);
  Machine machine = preset("lpu-v1-576");
  auto split = chooseSplit(machine, shape);
  ASSERT_TRUE(split) << split.error().message;
  expectWhole(machine, shape, *split);
  EXPECT_EQ(split->tp, 8);
  EXPECT_EQ(split->pp, 72);
  EXPECT_TRUE(cutsFeedForwards(*split));

  Machine larger = with(640);
  auto whole = chooseSplit(larger, shape);
  ASSERT_TRUE(whole) << whole.error().message;
  expectWhole(larger, shape, *whole);
  EXPECT_EQ(whole->pp, 80);
  EXPECT_FALSE(cutsFeedForwards(*whole));
  EXPECT_LT(whole->latency, split->latency);

  Machine fewer = with(416);
  std::string message = refusal(fewer, shape, {8, 0});
  EXPECT_NE(message.find("does not fit lpu-v1-576"), std::string::npos)
      << message;
}

// What a set's first program chose is asked of the others, in full.
TEST(ChooseSplit, CutsAreAskedFor) {
  Machine machine = preset("lpu-v1-576");
  StepShape shape = small(3);
  auto with = [&](int64_t pp, std::optional<bool> cut) {
    return findSplit(machine, shape,
                     {2, pp, Objective::Latency, Products::Chosen, cut});
  };
  for (int64_t pp : {5, 6}) {
    auto chosen = with(pp, {}), whole = with(pp, false), cut = with(pp, true);
    ASSERT_TRUE(chosen && whole && cut);
    EXPECT_FALSE(chosen->cut || whole->cut);
    EXPECT_FALSE(cutsFeedForwards(*whole));
    EXPECT_EQ(chosen->latency, whole->latency);
    EXPECT_TRUE(cut->cut && cutsFeedForwards(*cut));
    expectWhole(machine, shape, *cut);
  }
  auto fine = with(8, {});
  ASSERT_TRUE(fine) << fine.error().message;
  EXPECT_TRUE(fine->cut);
  auto refused = with(8, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "tp=2, pp=8: expected at most 7 stages of whole feed-forward "
            "networks");
}

// A head that no stage has room for beside a section is a stage of its own.
TEST(ChooseSplit, TheHeadAlone) {
  Machine machine = preset("lpu-v1-node");
  StepShape shape =
      uniformShape(llama(1, 4096, 32, 8, 14'336), WeightFormat::Q8, false, 320);
  shape.vocab = shape.head.rows = 36'000;
  auto split = chooseSplit(machine, shape, {1, 0});
  ASSERT_TRUE(split) << split.error().message;
  expectWhole(machine, shape, *split);
  EXPECT_EQ(split->stages.back().sections, 0);
  EXPECT_EQ(split->stages.back().first, kSections);
}

TEST(ChooseSplit, WhatIsChosenOnAnyPresetIsWhole) {
  for (const std::string &name : presetNames()) {
    Machine machine = *loadMachine(name);
    for (const StepShape &shape :
         {small(), llama7b(), llama70b(WeightFormat::Q4),
          llama70b(WeightFormat::Q8)}) {
      SCOPED_TRACE(name);
      auto split = findSplit(machine, shape, {});
      if (split) {
        expectWhole(machine, shape, *split);
      }
    }
  }
}

} // namespace
} // namespace orrery::partition
