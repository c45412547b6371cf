// Correct random programs pass; every kind of corruption is named by the
// checker, and by a timing-only run where it shows in what the chip does.
#include "machine/Validate.h"
#include "simulator/check/Check.h"
#include "tests/simulator/check/Mutations.h"
#include "tests/simulator/check/ProgramBuilder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#ifdef ORRERY_WITH_SIMULATOR
#include "simulator/Simulator.h"
#endif

namespace orrery {
namespace {

constexpr uint64_t kFirstSeed = 1;
constexpr uint64_t kPrograms = 60;

/// What a timing-only run says against the program; empty when nothing.
std::string runComplaint(const Program &program, const Machine &machine) {
#ifdef ORRERY_WITH_SIMULATOR
  // The simulator runs what loadProgram lets through.
  if (Status status = validateProgram(program, machine); !status) {
    return "loader: " + status.error().message;
  }
  sim::Simulator simulator(machine);
  auto result = simulator.run(program, {0, program.tokens, {}});
  if (!result) {
    return result.error().message;
  }
  if (result->ticks != program.predictedTicks) {
    return "ends at tick " + std::to_string(result->ticks) + ", predicted " +
           std::to_string(program.predictedTicks);
  }
  for (const auto &stream : result->counters.streams) {
    if (stream.droppedVectors > 0) {
      return "counts dropped vectors";
    }
  }
#else
  (void)program, (void)machine;
#endif
  return "";
}

std::string summary(const check::Report &report) {
  std::string text;
  for (const check::Violation &v : report.violations) {
    text += v.message + "\n";
  }
  return text;
}

TEST(MutationTest, CorrectProgramsPass) {
  for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kPrograms; ++seed) {
    test::BuiltProgram built = test::buildProgram(seed);
    check::Report report = check::checkProgram(built.program, built.machine);
    EXPECT_TRUE(report.ok()) << "seed " << seed << "\n" << summary(report);
    EXPECT_EQ(report.endTick, test::endTickOf(built.program, built.machine));
    EXPECT_EQ(report.sram.used + report.sram.free, report.sram.capacity);
    EXPECT_EQ(runComplaint(built.program, built.machine), "")
        << "seed " << seed;
  }
}

struct Tally {
  int applied = 0, checker = 0, run = 0;
  std::map<std::string, int> rules;
  std::string example;
};

void print(const char *name, const Tally &tally) {
  std::string rules;
  for (auto [rule, count] : tally.rules) {
    rules += (rules.empty() ? "" : ", ") + rule + " " + std::to_string(count);
  }
  std::printf("%-22s %4d | %4d %-52s | %4d %s\n", name, tally.applied,
              tally.checker, rules.c_str(), tally.run, tally.example.c_str());
}

TEST(MutationTest, EveryKindIsNamed) {
  std::printf("kind, times applied | named by the checker, first rule | by a "
              "timing-only run, an example\n");
  for (const test::Mutation &kind : test::mutations()) {
    Tally tally;
    for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kPrograms; ++seed) {
      test::BuiltProgram built = test::buildProgram(seed);
      test::Random random(seed * 1000003 + tally.applied);
      if (!test::mutate(kind, built.program, built.machine, random)) {
        continue;
      }
      SCOPED_TRACE(std::string(kind.name) + ", seed " + std::to_string(seed));
      ++tally.applied;
      check::Report report = check::checkProgram(built.program, built.machine);
      std::set<std::string> found;
      for (const check::Violation &v : report.violations) {
        found.insert(v.rule);
      }
      bool named = std::any_of(
          kind.rules.begin(), kind.rules.end(),
          [&](const std::string &rule) { return found.contains(rule); });
      EXPECT_TRUE(named) << summary(report);
      tally.checker += !report.ok();
      if (!report.ok()) {
        ++tally.rules[report.violations[0].rule];
      }
      std::string complaint = runComplaint(built.program, built.machine);
      tally.run += !complaint.empty();
      if (tally.example.empty()) {
        tally.example = complaint;
      }
#ifdef ORRERY_WITH_SIMULATOR
      EXPECT_TRUE(!kind.shows || !complaint.empty()) << summary(report);
#endif
    }
    print(kind.name, tally);
    EXPECT_GT(tally.applied, int(kPrograms) / 4) << kind.name;
    EXPECT_EQ(tally.checker, tally.applied) << kind.name;
  }
}

} // namespace
} // namespace orrery
