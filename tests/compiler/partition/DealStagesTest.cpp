// Deals against all deals there are, where these can be listed, and what holds
// of large ones.
#include "compiler/partition/DealStages.h"

#include "tests/compiler/partition/SplitShapes.h"

#include "gtest/gtest.h"

#include <functional>
#include <random>

namespace orrery::partition {
namespace {

using Runs = std::vector<Run>;

/// Calls `visit` with each way to deal `pieces` to `pp` stages. The last one
/// may have none.
void eachDeal(int64_t pieces, int64_t pp,
              const std::function<void(const Runs &)> &visit) {
  Runs runs;
  std::function<void(int64_t)> place = [&](int64_t first) {
    if (int64_t(runs.size()) == pp - 1) {
      runs.push_back({first, pieces - first});
      visit(runs);
      runs.pop_back();
      return;
    }
    for (int64_t count = 1; first + count <= pieces; ++count) {
      runs.push_back({first, count});
      place(first + count);
      runs.pop_back();
    }
  };
  place(0);
}

struct Figures {
  Bytes lack = 0;
  Tick latency = 0, slowest = 0;
};
Figures figuresOf(const StageCosts &costs, Cuts cuts, const Runs &runs,
                  int64_t users) {
  Figures out;
  for (const Run &run : runs) {
    StagePlan plan = costs.stage(run, &run == &runs.back(), users, cuts);
    out.lack = std::max(out.lack, costs.lack(plan));
    out.latency += plan.ticks.total();
    out.slowest = std::max(out.slowest, plan.ticks.total());
  }
  return out;
}

/// A small model, whose layers may differ, on chips that a few pieces fill.
struct Case {
  Machine machine = preset("lpu-small-node");
  StepShape shape;
  int64_t tp, users;
  Cuts cuts;
};
Case randomCase(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  Case c;
  c.cuts = random() % 2 ? Cuts::Sections : Cuts::Sublayers;
  c.shape = small(pick({1, 2, 3}));
  c.shape.ffn = pick({256, 512, 1024});
  for (LayerShape &l : c.shape.layers) {
    l.gate.rows = l.up.rows = l.down.columns = c.shape.ffn;
    for (Matrix *m : {&l.gate, &l.up, &l.down}) {
      m->format = random() % 3 ? WeightFormat::Q8 : WeightFormat::Q4;
    }
  }
  c.shape.vocab = c.shape.head.rows = pick({64, 1024, 4096});
  c.shape.context = c.shape.bucket = pick({64, 320});
  c.machine.sram.vectorsPerBank = int32_t(pick({96, 128, 160, 224, 320, 1024}));
  c.tp = pick({1, 2, 4});
  c.users = pick({1, 2, 5});
  return c;
}

TEST(DealStages, IsAsGoodAsTheBestOfAllDeals) {
  int lacking = 0, fitting = 0, sized = 0, taking = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Case c = randomCase(seed);
    StageCosts costs(c.machine, c.shape, c.tp, false);
    DealStages dealing(costs, c.cuts);
    int64_t pieces = costs.pieces(c.cuts), fewest = 0;
    for (int64_t pp = 1; pp <= dealing.mostStages(); ++pp) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", pp " +
                   std::to_string(pp));
      Bytes lack = INT64_MAX;
      eachDeal(pieces, pp, [&](const Runs &runs) {
        lack = std::min(lack, figuresOf(costs, c.cuts, runs, c.users).lack);
      });
      fewest = fewest == 0 && lack == 0 ? pp : fewest;
      EXPECT_EQ(dealing.leastLack(pp, c.users), lack);
      (lack > 0 ? lacking : fitting) += 1;
      std::pair sum(Tick(INT64_MAX), Tick(0));
      Tick slowest = INT64_MAX, token = INT64_MAX;
      eachDeal(pieces, pp, [&](const Runs &runs) {
        Figures f = figuresOf(costs, c.cuts, runs, c.users);
        if (f.lack <= lack) {
          sum = std::min(sum, {f.latency, f.slowest});
          slowest = std::min(slowest, f.slowest);
          token = std::min(token, std::max(f.slowest, f.latency / c.users));
        }
      });
      for (auto order : {RunTable::Order::Sum, RunTable::Order::Slowest}) {
        RunTable table(costs, c.cuts, order, {.users = c.users, .lack = lack});
        for (bool longest : {true, false}) {
          if (pp == 1) {
            continue;
          }
          Figures f =
              figuresOf(costs, c.cuts, table.best(pp, longest), c.users);
          EXPECT_LE(f.lack, lack);
          if (order == RunTable::Order::Sum) {
            EXPECT_EQ(std::pair(f.latency, f.slowest), sum);
          } else {
            EXPECT_EQ(f.slowest, slowest);
          }
        }
      }
      Deal deal = dealing.deal(pp, c.users, Objective::Latency);
      EXPECT_EQ(deal.shortage, lack);
      EXPECT_LE(deal.latency - sum.first, deal.latency / kTold);
      Deal even = dealing.evenly(pp, c.users);
      sized += deal.latency < even.latency || deal.shortage < even.shortage;
      Deal busy = dealing.deal(pp, c.users, Objective::Throughput);
      EXPECT_EQ(busy.shortage, lack);
      Tick found = ticksOfToken(busy, c.users);
      if (lack == 0 && c.users <= pp) {
        EXPECT_LE(found - token, found / kTold);
        ++taking;
      }
    }
    EXPECT_EQ(dealing.fewest(c.users).value_or(0), fewest);
  }
  EXPECT_GT(lacking, 100);
  EXPECT_GT(fitting, 100);
  EXPECT_GT(sized, 20);
  EXPECT_GT(taking, 100) << "turns";
}

// Whole, in order, with room, and no worse than evenly by count.
TEST(DealStages, IsWholeAndNeverWorseThanByCount) {
  Machine machine = preset("lpu-v1-576");
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    StepShape shape = random() % 2 ? llama70b(WeightFormat::Q4)
                                   : llama7b(WeightFormat::Q8, 640);
    shape.layers.resize(1 + random() % shape.layers.size());
    for (LayerShape &l : shape.layers) {
      l.down.format = random() % 4 ? l.gate.format : WeightFormat::Q8;
    }
    auto cuts = random() % 2 ? Cuts::Sections : Cuts::Sublayers;
    auto objective = random() % 2 ? Objective::Latency : Objective::Throughput;
    StageCosts costs(machine, shape, int64_t(1 + random() % 8), false);
    DealStages dealing(costs, cuts);
    int64_t pp = 1 + int64_t(random() % uint64_t(dealing.mostStages()));
    auto users = int64_t(1 + random() % 4);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", pp " + std::to_string(pp));
    Deal deal = dealing.deal(pp, users, objective);
    Deal even = dealing.evenly(pp, users);
    ASSERT_EQ(int64_t(deal.stages.size()), pp);
    int64_t next = 0;
    for (const StagePlan &stage : deal.stages) {
      EXPECT_EQ(stage.first, next);
      EXPECT_TRUE(stage.sections > 0 || &stage == &deal.stages.back());
      EXPECT_TRUE(cuts == Cuts::Sections || stage.sections == 0 ||
                  kindOf(stage.first) != Section::Down);
      EXPECT_LE(shortage(machine, stage.bytes), deal.shortage);
      next += stage.sections;
    }
    EXPECT_EQ(next, kSections * int64_t(shape.layers.size()));
    EXPECT_EQ(deal.shortage == 0, dealing.fewest(users).value_or(999) <= pp);
    EXPECT_LE(deal.shortage, even.shortage);
    if (deal.shortage == even.shortage) {
      auto cost = [&](const Deal &d) {
        return objective == Objective::Latency ? d.latency
                                               : ticksOfToken(d, users);
      };
      EXPECT_LE(cost(deal), cost(even));
    }
  }
}

// So a width whose floor is above what others take need not be dealt.
TEST(DealStages, FloorsAreBelowEveryDeal) {
  Machine machine = preset("lpu-v1-576");
  StepShape shape = llama7b(WeightFormat::Q8, 640);
  for (Products products : {Products::Chosen, Products::Column,
                            Products::Scatter, Products::Reduce}) {
    for (int64_t tp : {1, 2, 3, 5, 8, 31, 32, 33, 64, 100, 344}) {
      for (bool ring : {false, true}) {
        if (ring && tp < 3) {
          continue;
        }
        SCOPED_TRACE(std::to_string(tp) + (ring ? " in a ring" : " linked"));
        StageCosts costs(machine, shape, tp, ring, products);
        if (ring) {
          EXPECT_LE(StageCosts::leastTicksInRing(machine, shape, tp),
                    costs.leastTicks());
        }
        DealStages dealing(costs, Cuts::Sections);
        for (int64_t pp : {1, 2, 32, 97}) {
          Deal deal = dealing.deal(pp, 1, Objective::Latency);
          EXPECT_LE(costs.leastTicks(), deal.latency);
        }
      }
    }
  }
}

// A chip has room for down and attention together, or for gate and up, not for
// gate, up and down.
TEST(DealStages, FourHundredBillionInTwoStagesALayer) {
  Machine machine = preset("lpu-v1-576");
  StepShape shape = uniformShape(llama(126, 16'384, 128, 8, 53'248),
                                 WeightFormat::Q4, false, 4096);
  shape.vocab = shape.head.rows = 128'256;
  StageCosts costs(machine, shape, 8, false);
  DealStages dealing(costs, Cuts::Sections);
  // One of the 252 holds the head as well, which fits beside no down.
  EXPECT_EQ(dealing.fewest(1), 253);
  Deal deal = dealing.deal(253, 1, Objective::Latency);
  EXPECT_EQ(deal.shortage, 0);
  EXPECT_LE(dealing.programs(deal), 5);
  EXPECT_GT(dealing.evenly(253, 1).shortage, 0);
  EXPECT_GT(dealing.evenly(378, 1).shortage, 0);
  Deal byCount = dealing.evenly(379, 1);
  EXPECT_EQ(byCount.shortage, 0);
  EXPECT_LT(deal.latency, byCount.latency);
}

// 72 groups have room by count: stages stay as alike as that makes them.
TEST(DealStages, SeventyBillionByCount) {
  Machine machine = preset("lpu-v1-576");
  StageCosts costs(machine, llama70b(WeightFormat::Q8), 8, false);
  DealStages dealing(costs, Cuts::Sections);
  Deal deal = dealing.deal(72, 1, Objective::Latency);
  Deal even = dealing.evenly(72, 1);
  EXPECT_EQ(deal.latency, even.latency);
  EXPECT_EQ(deal.slowest, even.slowest);
  EXPECT_EQ(dealing.programs(deal), 6);
}

TEST(DealStages, MostUsersFitAndOneMoreDoesNot) {
  Machine machine = preset("lpu-v1-576");
  StageCosts costs(machine, llama70b(WeightFormat::Q4), 8, false);
  DealStages dealing(costs, Cuts::Sections);
  for (int64_t pp : {36, 41, 60, 100}) {
    int64_t users = dealing.mostUsers(pp);
    ASSERT_LT(users, pp);
    EXPECT_EQ(dealing.leastLack(pp, users), 0);
    EXPECT_GT(dealing.leastLack(pp, users + 1), 0);
  }
}

} // namespace
} // namespace orrery::partition
