// Correct random systems of chips pass; every kind of corruption is named by
// the checker, and by a timing-only run where it shows in what chips do.
#include "simulator/check/SystemCheck.h"
#include "tests/simulator/check/LinkOracle.h"
#include "tests/simulator/check/SystemMutations.h"
#include "tests/simulator/check/TimingRun.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace orrery {
namespace {

constexpr uint64_t kFirstSeed = 1;
constexpr uint64_t kSystems = 40;

const std::vector<test::BuiltSystem> &systems() {
  static const std::vector<test::BuiltSystem> built = [] {
    std::vector<test::BuiltSystem> all;
    for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSystems; ++seed) {
      all.push_back(test::buildSystem(seed));
    }
    return all;
  }();
  return built;
}

std::string summary(const check::SystemReport &report) {
  std::string text;
  for (const check::SystemViolation &v : report.violations) {
    text += v.message + "\n";
  }
  return text;
}

TEST(SystemMutationTest, CorrectSystemsPass) {
  size_t chips = 0, links = 0, behaviours = 0, vectors = 0;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSystems; ++seed) {
    const test::BuiltSystem &built = systems()[seed - kFirstSeed];
    check::SystemReport report =
        check::checkSystem(built.program, built.machine);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << summary(report);
    EXPECT_EQ(report.endTick, built.program.predictedTicks);
    auto wires = test::wireRuns(built.program, built.machine);
    size_t crossing = 0;
    for (const test::WireRun &wire : wires) {
      for (const test::CrossingVector &v : wire.vectors) {
        crossing += v.width;
      }
    }
    EXPECT_EQ(report.links, wires.size()) << "seed " << seed;
    EXPECT_EQ(report.linkVectorsProven, crossing) << "seed " << seed;
    EXPECT_EQ(test::runComplaint(built.program, built.machine), "")
        << "seed " << seed;
    chips += built.program.chips.size();
    links += report.links;
    behaviours += report.linkBehaviours;
    vectors += crossing;
  }
  std::printf("%zu systems, %zu chips, %zu links of %zu behaviours, %zu "
              "vectors\n",
              size_t(kSystems), chips, links, behaviours, vectors);
  EXPECT_GT(links, 2 * behaviours);
}

struct Tally {
  int applied = 0, run = 0, loader = 0;
  std::map<std::string, int> rules; ///< those of the kind
  std::string named, seen;          ///< examples
};

void print(const char *name, const Tally &tally) {
  std::string rules;
  for (auto [rule, count] : tally.rules) {
    rules += (rules.empty() ? "" : ", ") + rule + " " + std::to_string(count);
  }
  std::printf("%-22s %3d | %-30s | %3d, %2d\n  %s\n  %s\n", name, tally.applied,
              rules.c_str(), tally.run, tally.loader, tally.named.c_str(),
              tally.seen.c_str());
}

TEST(SystemMutationTest, EveryKindIsNamed) {
  std::printf("kind, times applied | named by the checker | by a timing-only "
              "run, of these at loading; examples of both\n");
  for (const test::SystemMutation &kind : test::systemMutations()) {
    Tally tally;
    for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSystems; ++seed) {
      test::BuiltSystem built = systems()[seed - kFirstSeed];
      test::Random random(seed * 1000003 + tally.applied);
      if (!test::mutate(kind, built, random)) {
        continue;
      }
      SCOPED_TRACE(std::string(kind.name) + ", seed " + std::to_string(seed));
      ++tally.applied;
      auto report = check::checkSystem(built.program, built.machine);
      auto named = std::ranges::find_if(
          report.violations, [&](const check::SystemViolation &v) {
            return std::ranges::find(kind.rules, v.rule) != kind.rules.end();
          });
      EXPECT_NE(named, report.violations.end()) << summary(report);
      if (named != report.violations.end()) {
        EXPECT_TRUE(named->message.starts_with(named->rule + ": "));
        ++tally.rules[named->rule];
        tally.named = named->message;
      }
      std::string complaint = test::runComplaint(built.program, built.machine);
      bool atLoading = complaint.starts_with("loader");
      tally.run += !complaint.empty();
      tally.loader += atLoading;
      if (tally.seen.empty() || !atLoading) {
        tally.seen = complaint;
      }
#ifdef ORRERY_WITH_SIMULATOR
      EXPECT_TRUE(!kind.shows || !complaint.empty()) << summary(report);
#endif
    }
    print(kind.name, tally);
    EXPECT_GT(tally.applied, int(kSystems) / 4) << kind.name;
  }
}

int64_t largestBurst(const SystemProgram &system) {
  int64_t largest = 8;
  for (const Program &part : system.parts) {
    for (const Instruction &i : part.instructions) {
      if (auto *op = std::get_if<SendOp>(&i.operation); op && op->link > 0) {
        largest = std::max(largest, int64_t(op->shape.count()) * op->width);
      }
    }
  }
  return largest;
}

/// Starts, link speeds and buffers that are sometimes still good enough: the
/// checker says what a vector by vector account says, and so does a run.
TEST(SystemMutationTest, AgreesWithEveryVector) {
  int good = 0, late = 0, full = 0;
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSystems; ++seed) {
    for (uint64_t draw = 0; draw < 10; ++draw) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", draw " +
                   std::to_string(draw));
      test::BuiltSystem built = systems()[seed - kFirstSeed];
      test::Random random(seed * 100 + draw);
      std::map<uint32_t, Tick> later;
      for (ChipProgram &c : built.program.chips) {
        auto [at, isNew] = later.try_emplace(c.stage, 0);
        at->second = isNew ? random.between(0, 30) * c.stage : at->second;
        c.start += at->second;
      }
      built.machine.link.latency += random.between(-3, 3);
      built.machine.link.latency =
          std::max<Tick>(1, built.machine.link.latency);
      built.machine.link.vectorTicks += random.chance(20) ? 1 : 0;
      int64_t room = built.machine.link.bufferVectors;
      room -= random.chance(50) ? random.between(1, 20) : 0;
      built.machine.link.bufferVectors =
          int32_t(std::max(room, largestBurst(built.program)));
      test::restateSystem(built);
      bool isLate = false, isFull = false;
      for (const auto &wire : test::wireRuns(built.program, built.machine)) {
        bool lateHere = test::slackOf(wire) < 0;
        isLate |= lateHere;
        isFull |=
            !lateHere && test::peakOf(wire) > built.machine.link.bufferVectors;
      }
      auto report = check::checkSystem(built.program, built.machine);
      std::set<std::string> rules;
      for (const check::SystemViolation &v : report.violations) {
        rules.insert(v.rule);
      }
      EXPECT_EQ(rules.erase("arrival") == 1, isLate) << summary(report);
      EXPECT_EQ(rules.erase("full") == 1, isFull) << summary(report);
      EXPECT_TRUE(rules.empty()) << summary(report);
#ifdef ORRERY_WITH_SIMULATOR
      EXPECT_EQ(test::runComplaint(built.program, built.machine).empty(),
                !isLate && !isFull);
#endif
      good += !isLate && !isFull;
      late += isLate;
      full += isFull;
    }
  }
  std::printf("%d still correct, %d late, %d with a full buffer\n", good, late,
              full);
  EXPECT_GT(good, 40);
  EXPECT_GT(late, 40);
  EXPECT_GT(full, 10);
}

} // namespace
} // namespace orrery
