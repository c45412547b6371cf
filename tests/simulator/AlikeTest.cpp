// Timing-only runs that simulate one of many chips that do the same.
#include "simulator/timing/ChipClasses.h"
#include "tests/simulator/TestSystem.h"

#include <gtest/gtest.h>

#include <set>

namespace orrery::sim::test {
namespace {

constexpr int32_t kRanks = 3;
/// Link numbers: to the rank one and two after this one, and on to the next
/// stage.
constexpr LinkNumber kOne = 1, kTwo = 2, kPipeline = 3;

/// A stage's rank: takes a burst from the stage before, exchanges one with each
/// rank of the stage, and sends one on.
struct StagePart : LinkPart {
  StagePart(bool receivesFirst, bool sendsLast) {
    if (receivesFirst) {
      receives(0, kPipeline, burst(2), 1);
    }
    sends(100, kOne, burst(2), 1);
    sends(110, kTwo, burst(2), 2, 2);
    receives(100 + 26, kOne, burst(2), 1, 2);
    receives(110 + 32, kTwo, burst(2), 2, 4);
    if (sendsLast) {
      sends(200, kPipeline, burst(2), 1, 6);
    }
  }
};

/// A pipeline of stages of three ranks, the parts between the ends of `kinds`
/// in turn. Vectors arrive each 3 ticks, so the second of two is received 2
/// late.
struct Pipeline : TestSystem {
  static constexpr Tick kApart = 200 + 26 - 1;

  explicit Pipeline(int32_t stages, int32_t kinds = 1)
      : TestSystem(stages * kRanks) {
    uint32_t first = part(StagePart(false, true));
    std::vector<uint32_t> middle;
    for (int32_t kind = 0; kind < kinds; ++kind) {
      middle.push_back(part(StagePart(true, true)));
    }
    uint32_t last = part(StagePart(true, false));
    for (int32_t stage = 0; stage < stages; ++stage) {
      bool isFirst = stage == 0, isLast = stage == stages - 1;
      for (int32_t rank = 0; rank < kRanks; ++rank) {
        int32_t number = stage * kRanks + rank;
        auto at = [&](int32_t offset) {
          return stage * kRanks + (rank + offset + kRanks) % kRanks;
        };
        chip(number,
             isFirst  ? first
             : isLast ? last
                      : middle[size_t(stage % kinds)],
             {ports(number, at(1), at(-1)), ports(number, at(2), at(-2)),
              ports(number, isLast ? -1 : number + kRanks,
                    isFirst ? -1 : number - kRanks)},
             stage * kApart)
            .stage = uint32_t(stage);
      }
    }
  }
};

std::string all(const SystemResult &result, size_t chip) {
  const StepResult &step = result.of(chip);
  std::string text = std::to_string(step.ticks) + formatCounters(step.counters);
  for (size_t i = 0; i < step.executed.size(); ++i) {
    text += " " + std::to_string(step.executed[i]) + "-" +
            std::to_string(step.completed[i]);
  }
  return text;
}

TEST(Alike, OneStandsForMany) {
  Pipeline system(7);
  SystemSimulator once(system.machine), each(system.machine, Alike::Each);
  auto some = once.run(system.program, system.input);
  auto every = each.run(system.program, system.input);
  ASSERT_TRUE(some) << some.error().message;
  ASSERT_TRUE(every) << every.error().message;
  EXPECT_EQ(every->simulated.size(), 21u);
  // The first stage, the one behind it, those between, the one before the last,
  // and the last.
  ASSERT_EQ(some->simulated.size(), 5u);
  std::vector<uint32_t> alike, who;
  for (const ChipStep &chip : some->simulated) {
    alike.push_back(chip.alike);
    who.push_back(chip.chip);
  }
  EXPECT_EQ(alike, (std::vector<uint32_t>{3, 3, 9, 3, 3}));
  EXPECT_EQ(who, (std::vector<uint32_t>{0, 3, 6, 15, 18}));
  EXPECT_EQ(some->ticks, every->ticks);
  for (size_t chip = 0; chip < 21; ++chip) {
    EXPECT_EQ(all(*some, chip), all(*every, chip)) << chip;
  }
  EXPECT_NEAR(some->energy.totalJoules(), every->energy.totalJoules(),
              1e-12 * every->energy.totalJoules());
}

// The one that stands for a stage may send to a stage for which another stands,
// so that nobody listens to it.
TEST(Alike, StagesOfSeveralKindsInTurn) {
  for (int32_t kinds : {2, 3}) {
    Pipeline system(12, kinds);
    SystemSimulator once(system.machine), each(system.machine, Alike::Each);
    auto some = once.run(system.program, system.input);
    auto every = each.run(system.program, system.input);
    ASSERT_TRUE(some) << some.error().message;
    ASSERT_TRUE(every) << every.error().message;
    EXPECT_LT(some->simulated.size(), every->simulated.size());
    for (size_t chip = 0; chip < 36; ++chip) {
      EXPECT_EQ(all(*some, chip), all(*every, chip)) << chip;
    }
    // A stage that nobody receives from is found all the same.
    system.program.chips[3 * kRanks].links[2].in = -1;
    EXPECT_NE(system.error(Alike::Once), "");
  }
}

TEST(Alike, TheSecondRunIsTheSame) {
  Pipeline system(4), shorter(3);
  SystemSimulator s(system.machine);
  auto first = s.run(system.program, system.input);
  ASSERT_TRUE(first);
  SystemSimulator other(shorter.machine);
  ASSERT_TRUE(other.run(shorter.program, shorter.input));
  auto again = s.run(system.program, system.input);
  ASSERT_TRUE(again);
  for (size_t chip = 0; chip < 12; ++chip) {
    EXPECT_EQ(all(*first, chip), all(*again, chip));
  }
}

TEST(Alike, EveryStageIsHeldAgainstItsRealNeighbour) {
  // One tick less between any two stages, and the later one is too early.
  for (int32_t stage = 1; stage < 6; ++stage) {
    Pipeline system(6);
    for (ChipProgram &chip : system.program.chips) {
      chip.start -= int32_t(chip.stage) >= stage ? 1 : 0;
    }
    std::string error = system.error(Alike::Once);
    std::string expected = "chip " + std::to_string(stage * kRanks) +
                           " (and 2 alike): link in 3: instruction 0 receive";
    EXPECT_NE(error.find(expected), std::string::npos) << error;
    EXPECT_NE(error.find("of chip " + std::to_string((stage - 1) * kRanks)),
              std::string::npos)
        << error;
    EXPECT_NE(system.error(Alike::Each), "");
  }
}

TEST(Alike, OneStageLaterIsLegalAndOfItsOwn) {
  Pipeline system(6);
  for (ChipProgram &chip : system.program.chips) {
    chip.start += chip.stage >= 3 ? 50 : 0;
  }
  SystemSimulator once(system.machine), each(system.machine, Alike::Each);
  auto some = once.run(system.program, system.input);
  auto every = each.run(system.program, system.input);
  ASSERT_TRUE(some) << some.error().message;
  ASSERT_TRUE(every);
  // Stage 2 has stage 3 farther off, and stage 3 stage 2.
  EXPECT_EQ(some->simulated.size(), 6u);
  for (size_t chip = 0; chip < 18; ++chip) {
    EXPECT_EQ(all(*some, chip), all(*every, chip)) << chip;
  }
  EXPECT_EQ(some->ticks, every->ticks);
}

TEST(Alike, ChipsWhoseLinksLookDifferentAreSimulatedEach) {
  // Ranks 1 and 2 of stage 0 send on to each other's partner: the same to every
  // chip, as these do the same.
  Pipeline crossed(2);
  std::swap(crossed.program.chips[1].links[2].out,
            crossed.program.chips[2].links[2].out);
  crossed.program.chips[1].links[2].out = TestSystem::port(1, 5);
  crossed.program.chips[2].links[2].out = TestSystem::port(2, 4);
  crossed.program.chips[4].links[2].in = TestSystem::port(4, 2);
  crossed.program.chips[5].links[2].in = TestSystem::port(5, 1);
  EXPECT_EQ(crossed.error(Alike::Once), "");
  EXPECT_EQ(crossed.error(Alike::Each), "");
  // Rank 1 gets on link 1 what was sent on link 2, twice as wide.
  Pipeline mixed(2);
  std::vector<LinkPorts> &links = mixed.program.chips[1].links;
  std::swap(links[0].in, links[1].in);
  SystemSimulator once(mixed.machine);
  for (Alike alike : {Alike::Once, Alike::Each}) {
    std::string error = mixed.error(alike);
    EXPECT_NE(error.find("chip 1: link in 1: instruction 4 receive"),
              std::string::npos)
        << error;
    EXPECT_NE(error.find("expected 2 vectors of 1 stream, found 2 vectors of 2 "
                         "streams"),
              std::string::npos)
        << error;
  }
  // A rank that starts later than the others of its stage.
  Pipeline late(1);
  late.program.chips[2].start = 1;
  auto wiring = Wiring::of(late.program, late.machine);
  ASSERT_TRUE(wiring);
  ChipClasses classes = chipsAlike(late.program, *wiring);
  EXPECT_EQ(classes.representatives.size(), 3u);
}

TEST(Alike, TheEarliestStands) {
  // A pipeline against the order of the chips: stage 0 is on the last ones.
  Pipeline system(5);
  Pipeline turned(1);
  turned = system;
  int32_t chips = 5 * kRanks;
  auto mirrored = [&](int32_t chip) { return chips - 1 - chip; };
  turned.program.chips.clear();
  for (int32_t chip = chips - 1; chip >= 0; --chip) {
    ChipProgram c = system.program.chips[size_t(chip)];
    PortMap map(system.machine);
    for (LinkPorts &link : c.links) {
      for (int32_t *port : {&link.out, &link.in}) {
        if (*port >= 0) {
          *port = TestSystem::port(mirrored(chip),
                                   mirrored(map.otherEnd(chip, *port).first));
        }
      }
    }
    c.chip = mirrored(chip);
    turned.program.chips.push_back(std::move(c));
  }
  SystemSimulator once(turned.machine), each(turned.machine, Alike::Each);
  auto some = once.run(turned.program, turned.input);
  auto every = each.run(turned.program, turned.input);
  ASSERT_TRUE(some) << some.error().message;
  ASSERT_TRUE(every);
  EXPECT_EQ(some->ticks, every->ticks);
  for (const ChipStep &chip : some->simulated) {
    for (size_t other = 0; other < size_t(chips); ++other) {
      if (&some->of(other) == &chip.result) {
        EXPECT_LE(turned.program.chips[chip.chip].start,
                  turned.program.chips[other].start);
      }
    }
  }
  for (size_t chip = 0; chip < size_t(chips); ++chip) {
    EXPECT_EQ(all(*some, chip), all(*every, chip)) << chip;
  }
}

} // namespace
} // namespace orrery::sim::test
