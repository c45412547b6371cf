// Which split is chosen, what is asked for, and what is refused with which
// words.
#include "compiler/partition/Partition.h"

#include "compiler/partition/StageCosts.h"
#include "tests/compiler/partition/Cabling.h"

namespace orrery::partition {
namespace {

models::ModelConfig llama(int64_t layers, int64_t hidden, int64_t heads,
                          int64_t kvHeads, int64_t ffn) {
  models::ModelConfig c;
  c.name = "llama";
  c.architecture = "llama";
  c.layers = layers;
  c.hidden = hidden;
  c.heads = heads;
  c.kvHeads = kvHeads;
  c.headDim = 128;
  c.intermediate = ffn;
  c.vocab = 32'000;
  return c;
}
StepShape llama7b(WeightFormat format = WeightFormat::Q8,
                  int64_t context = 4096) {
  return uniformShape(llama(32, 4096, 32, 32, 11'008), format, false, context);
}
StepShape llama70b(WeightFormat format) {
  return uniformShape(llama(80, 8192, 64, 8, 28'672), format, false, 4096);
}
StepShape small(int64_t layers = 4) {
  models::ModelConfig c = llama(layers, 192, 6, 2, 512);
  c.headDim = 32;
  c.vocab = 1024;
  return uniformShape(c, WeightFormat::Q8, false, 512);
}
Machine preset(const char *name) { return *loadMachine(name); }

std::string refusal(const Machine &machine, const StepShape &shape,
                    const SplitRequest &request = {}) {
  Expected<Split> split = chooseSplit(machine, shape, request);
  return split ? "tp=" + std::to_string(split->tp) + " is chosen"
               : split.error().message;
}

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
  EXPECT_EQ(split.latency, latency);
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

// Attentions and feed-forward networks evenly while there are as many, then
// feed-forward networks in two, up to a section a stage and the head alone.
TEST(ChooseSplit, SectionsOfAnyCountInAnyStages) {
  Machine machine = preset("lpu-v1-576");
  for (int64_t layers = 1; layers <= 7; ++layers) {
    StepShape shape = small(layers);
    for (int64_t pp = 1; pp <= kSections * layers + 1; ++pp) {
      SCOPED_TRACE(std::to_string(layers) + " layers, pp " +
                   std::to_string(pp));
      auto split = chooseSplit(machine, shape, {2, pp});
      ASSERT_TRUE(split) << split.error().message;
      expectWhole(machine, shape, *split);
      bool cut = pp > 2 * layers + 1;
      // Pieces before a section.
      auto pieces = [&](int64_t section) {
        return cut ? section : section / kSections * 2 + section % kSections;
      };
      int64_t most = 0, least = kSections * layers;
      for (size_t s = 0; s + 1 < split->stages.size(); ++s) {
        const StagePlan &stage = split->stages[s];
        EXPECT_TRUE(cut || kindOf(stage.first) != Section::Down);
        int64_t count =
            pieces(stage.first + stage.sections) - pieces(stage.first);
        most = std::max(most, count);
        least = std::min(least, count);
      }
      EXPECT_LE(pp > 1 ? most - least : 0, 1) << "evenly but for the last";
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

bool cutsFeedForwards(const Split &split) {
  return std::ranges::any_of(split.stages, [](const StagePlan &stage) {
    return stage.sections > 0 && kindOf(stage.first) == Section::Down;
  });
}

// An eighth of one and a half layers in 8 bits is more than a chip takes. With
// feed-forward networks cut in two four layers are three stages: 72 groups of 8
// are enough for 80 layers, and 80 are enough without cuts.
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

  Machine fewer = with(480);
  std::string message = refusal(fewer, shape, {8, 0});
  EXPECT_NE(message.find("does not fit lpu-v1-576"), std::string::npos)
      << message;
}

// What of a chip binds is named, and what it has to hold.
TEST(ChooseSplit, NoRoomNamesTheLimit) {
  Machine node = preset("lpu-v1-node");
  auto of = [&](int64_t layers, int64_t context) {
    StepShape shape = uniformShape(llama(layers, 2048, 16, 16, 5632),
                                   WeightFormat::Q8, true, context);
    shape.bucket = 320;
    return refusal(node, shape, {1, 1});
  };
  std::string bank = of(1, 320 * 40);
  EXPECT_NE(bank.find(" B too many for the one bank of data slices for tiles "
                      "(KV cache: "),
            std::string::npos)
      << bank;
  std::string spilled = of(4, 320 * 8);
  EXPECT_NE(spilled.find(" of weights beyond the weight slices: "),
            std::string::npos)
      << spilled;
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

TEST(ChooseSplit, Impossible) {
  Machine node = preset("lpu-small-node");
  EXPECT_EQ(refusal(node, small(), {9, 0}),
            "tp=9: expected at most the 8 chips of lpu-small-node");
  EXPECT_EQ(refusal(node, small(), {4, 3}),
            "tp=4, pp=3: expected at most the 8 chips of lpu-small-node");
  EXPECT_EQ(refusal(node, small(), {0, 9}),
            "pp=9: expected at most the 8 chips of lpu-small-node");
  EXPECT_EQ(refusal(node, small(), {0, 14}),
            "pp=14: expected at most 13 stages, three a layer (attention, gate "
            "and up, down) and the head; llama has 4 layers");
  EXPECT_EQ(refusal(node, small(), {-1, 0}),
            "tp=-1: expected at least 1, or 0 to choose");
  EXPECT_EQ(refusal(node, small(), {INT64_MAX, INT64_MAX}),
            "tp=9223372036854775807, pp=9223372036854775807: expected at most "
            "13 stages, three a layer (attention, gate and up, down) and the "
            "head; llama has 4 layers");
  EXPECT_EQ(refusal(node, small(), {INT64_MAX, 2}),
            "tp=9223372036854775807, pp=2: expected at most the 8 chips of "
            "lpu-small-node");
  EXPECT_EQ(refusal(preset("lpu-small"), small(), {1, 2}),
            "tp=1, pp=2: expected at most the 1 chips of lpu-small");
}

TEST(ChooseSplit, NoCables) {
  Machine ring = preset("lpu-small-ring");
  EXPECT_EQ(refusal(ring, small(), {3, 1}),
            "lpu-small-ring: no 3 chips are linked each to each or in a ring; "
            "the smallest preset that would do is lpu-small-node; tp=1, pp=1 "
            "would fit");
  // Six chips in a row: one by one, but not two by two.
  Cabling row(6);
  for (int32_t chip = 0; chip < 5; ++chip) {
    row.link(chip, chip + 1);
  }
  EXPECT_TRUE(chooseSplit(row.machine(), small(), {1, 4}));
  EXPECT_EQ(refusal(row.machine(), small(), {2, 2}),
            "cabled: tp=2, pp=2: there is no chain of 2 groups of 2 chips "
            "linked each to each and rank to rank; the longest found has 1; "
            "the smallest preset that would do is lpu-small-ring; tp=1, pp=1 "
            "would fit");
}

TEST(ChooseSplit, UnitsThatAreTooSmall) {
  Machine node = preset("lpu-small-node");
  StepShape wide = small();
  wide.headDim = 96;
  EXPECT_EQ(refusal(node, wide),
            "llama on lpu-small-node, tp=8: a head of 96 needs 96, a vector of "
            "the chip has 64");
  StepShape tall = small();
  tall.hidden = 1 << 17;
  EXPECT_EQ(refusal(node, tall, {8, 1}),
            "llama on lpu-small-node, tp=8: a row of activations needs 2048, a "
            "plane has 1024");
  StepShape lengthy = small();
  lengthy.bucket = lengthy.context = 1 << 17;
  EXPECT_NE(refusal(node, lengthy, {1, 1}).find("attention over 131072"),
            std::string::npos);
}

TEST(ChooseSplit, NoRoomSaysWhatWouldDo) {
  std::string message = refusal(preset("lpu-v1"), llama7b());
  EXPECT_EQ(message.rfind("llama does not fit lpu-v1: tp=1, pp=1 takes ", 0),
            0u)
      << message;
  EXPECT_NE(message.find(" a chip in stage 0 (weights "), std::string::npos);
  EXPECT_NE(message.find("a chip has 230686720 B, "), std::string::npos);
  EXPECT_NE(message.find("; the smallest preset that would do is lpu-v1-rack"),
            std::string::npos)
      << message;
  // The preset that is named does, and none with less SRAM.
  for (const std::string &name : presetNames()) {
    Machine machine = *loadMachine(name);
    Bytes bytes = machine.sramBytes() * machine.system.chips;
    Machine rack = preset("lpu-v1-rack");
    bool fits = bool(findSplit(machine, llama7b(), {}));
    EXPECT_TRUE(name != "lpu-v1-rack" || fits);
    EXPECT_FALSE(bytes < rack.sramBytes() * rack.system.chips && fits) << name;
  }
}

TEST(ChooseSplit, NoRoomSaysTheCheapestChange) {
  Machine node = preset("lpu-v1-node");
  EXPECT_NE(refusal(preset("lpu-v1-576"), llama7b(), {8, 2})
                .find("; tp=8, pp=8 would fit"),
            std::string::npos)
      << refusal(preset("lpu-v1-576"), llama7b(), {8, 2});
  // 13B-like caches: f16 does not fit, q8 does.
  auto shape =
      uniformShape(llama(16, 2048, 16, 16, 5632), WeightFormat::Q8, true, 0);
  for (int64_t context = 320;; context += 320) {
    ASSERT_LT(context, 320 * 200) << "no context is too long";
    shape.bucket = 320;
    shape.context = context;
    if (!findSplit(node, shape, {})) {
      break;
    }
  }
  EXPECT_NE(refusal(node, shape).find("; a q8 KV cache would fit"),
            std::string::npos)
      << refusal(node, shape);
  // The context before that one fitted.
  shape.halfKv = false;
  int64_t longest = 0;
  for (int64_t context = 320;; context += 320) {
    shape.context = context;
    if (!findSplit(node, shape, {})) {
      break;
    }
    longest = context;
  }
  EXPECT_NE(
      refusal(node, shape)
          .find("; a context of " + std::to_string(longest) + " would fit"),
      std::string::npos)
      << refusal(node, shape);
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
