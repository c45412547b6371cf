// Correct random programs pass; every kind of corruption is named by the
// checker, and by a timing-only run where it shows in what the chip does.
#include "simulator/check/Check.h"
#include "tests/simulator/check/Mutations.h"
#include "tests/simulator/check/ProgramBuilder.h"
#include "tests/simulator/check/TimingRun.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace orrery {
namespace {

constexpr uint64_t kFirstSeed = 1;
constexpr uint64_t kPrograms = 60;

const std::vector<test::BuiltProgram> &programs() {
  static const std::vector<test::BuiltProgram> built = [] {
    std::vector<test::BuiltProgram> all;
    for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kPrograms; ++seed) {
      all.push_back(test::buildProgram(seed));
    }
    return all;
  }();
  return built;
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
    const test::BuiltProgram &built = programs()[seed - kFirstSeed];
    check::Report report = check::checkProgram(built.program, built.machine);
    EXPECT_TRUE(report.ok()) << "seed " << seed << "\n" << summary(report);
    EXPECT_EQ(report.endTick, test::endTickOf(built.program, built.machine));
    EXPECT_EQ(report.sram.used + report.sram.free, report.sram.capacity);
    EXPECT_EQ(test::runComplaint(built.program, built.machine), "")
        << "seed " << seed;
  }
}

struct Tally {
  int applied = 0, checker = 0, run = 0, loader = 0;
  std::map<std::string, int> rules;
  std::string example;
};

void print(const char *name, const Tally &tally) {
  std::string rules;
  for (auto [rule, count] : tally.rules) {
    rules += (rules.empty() ? "" : ", ") + rule + " " + std::to_string(count);
  }
  std::printf("%-22s %4d | %4d %-52s | %4d, %2d %s\n", name, tally.applied,
              tally.checker, rules.c_str(), tally.run, tally.loader,
              tally.example.c_str());
}

TEST(MutationTest, EveryKindIsNamed) {
  std::printf("kind, times applied | named by the checker, first rule | by a "
              "timing-only run, of these at loading, an example\n");
  for (const test::Mutation &kind : test::mutations()) {
    Tally tally;
    for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kPrograms; ++seed) {
      test::BuiltProgram built = programs()[seed - kFirstSeed];
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
      std::string complaint = test::runComplaint(built.program, built.machine);
      tally.run += !complaint.empty();
      tally.loader += complaint.starts_with("loader");
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
