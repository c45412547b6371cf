// Corrupted one way at a time, compiled programs are refused by the checker
// and by the simulator alike: each kind of tests/simulator/check/Mutations.h on
// programs that the whole compiler made.
#include "models/RandomWeights.h"
#include "simulator/check/Check.h"
#include "tests/conformance/CaseRun.h"
#include "tests/simulator/check/Mutations.h"
#include "tests/simulator/check/TimingRun.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace orrery::test {
namespace {

constexpr size_t kPrograms = 8;
constexpr int kRounds = 12;

struct Compiled {
  uint64_t seed;
  Program program;
  Machine machine;
};

/// A case small enough that hundreds of mutants are checked in seconds.
RandomCase smallCase(uint64_t seed) {
  Random random(seed);
  RandomCase small = drawCase(seed);
  small.machine.lanes = 64;
  small.machine.matrix.installStreams = random.of<int32_t>({4, 8, 16});
  small.machine.sram.slicesPerHemisphere = 30;
  Random fetch(seed);
  drawFetch(small.machine, fetch);
  models::ModelConfig &c = small.model;
  c.layers = 1;
  c.hidden = random.between(20, 70);
  c.kvHeads = random.between(1, 2);
  c.heads = c.kvHeads * random.between(1, 2);
  c.headDim = random.of<int64_t>({8, 24, 32});
  c.ropeDimension = c.headDim;
  c.intermediate = 40;
  c.vocab = 71;
  small.options.tensorFormats.clear();
  small.options.context = c.contextLength = 100;
  small.options.chunk = random.between(1, 4);
  return small;
}

std::vector<Compiled> compileSome(size_t count) {
  std::vector<Compiled> out;
  for (uint64_t seed = 1; out.size() < count && seed < 10 * count; ++seed) {
    RandomCase small = smallCase(seed);
    models::RandomWeights weights(small.model, seed);
    runtime::SessionOptions options = small.options;
    options.machine = writeMachine(small.machine);
    auto session = runtime::Session::open(weights, options);
    if (session) {
      auto program = (*session)->program(options.chunk, small.machine.lanes);
      if (program) {
        out.push_back({seed, (*program)->parts.front(), small.machine});
      }
    }
    std::remove(options.machine.c_str());
  }
  return out;
}

const std::vector<Compiled> &programs() {
  static const std::vector<Compiled> all = compileSome(kPrograms);
  return all;
}

TEST(CompiledMutationTest, OriginalsPass) {
  ASSERT_EQ(programs().size(), kPrograms);
  for (const Compiled &c : programs()) {
    auto report = check::checkProgram(c.program, c.machine);
    EXPECT_TRUE(report.ok()) << c.seed << " " << report.violations[0].message;
    EXPECT_EQ(runComplaint(c.program, c.machine), "") << c.seed;
    std::printf("seed %llu: %zu instructions, %zu regions, T %u\n",
                (unsigned long long)c.seed, c.program.instructions.size(),
                c.program.regions.size(), c.program.tokens);
  }
}

struct Tally {
  int applied = 0, checker = 0, run = 0, loader = 0;
  std::map<std::string, int> rules;
  std::string example;
};

void apply(const Mutation &kind, const Compiled &original, int round,
           Tally &tally) {
  Random random(original.seed * 1000003 + uint64_t(round));
  Program broken = original.program;
  Machine machine = original.machine;
  if (!mutate(kind, broken, machine, random)) {
    return;
  }
  ++tally.applied;
  auto report = check::checkProgram(broken, machine);
  auto names = [&](const check::Violation &v) {
    return std::ranges::find(kind.rules, v.rule) != kind.rules.end();
  };
  std::string complaint = runComplaint(broken, machine);
  std::string first = report.ok() ? "" : report.violations[0].message;
  SCOPED_TRACE(std::string(kind.name) + ", seed " +
               std::to_string(original.seed) + ", round " +
               std::to_string(round) + "\nchecker: " + first +
               "\nrun: " + complaint);
  EXPECT_TRUE(std::ranges::any_of(report.violations, names));
  EXPECT_TRUE(!kind.shows || !complaint.empty());
  tally.checker += !report.ok();
  tally.run += !complaint.empty();
  tally.loader += complaint.starts_with("loader");
  if (!report.ok()) {
    ++tally.rules[report.violations[0].rule];
  }
  if (!complaint.starts_with("loader")) {
    tally.example = complaint;
  }
}

void print(const Mutation &kind, const Tally &tally) {
  std::string rules;
  for (auto [rule, count] : tally.rules) {
    rules += (rules.empty() ? "" : ", ") + rule + " " + std::to_string(count);
  }
  std::printf("%-22s %3d | %3d %-40s | %3d%s, %2d | %s\n", kind.name,
              tally.applied, tally.checker, rules.c_str(), tally.run,
              kind.shows ? "" : " (file only)", tally.loader,
              tally.example.c_str());
}

TEST(CompiledMutationTest, EveryKindIsNamed) {
  std::printf("kind, times | named by the checker, first rule | by a run, of "
              "these at loading | an example\n");
  int shown = 0;
  for (const Mutation &kind : mutations()) {
    Tally tally;
    for (const Compiled &original : programs()) {
      for (int round = 0; round < kRounds; ++round) {
        apply(kind, original, round, tally);
      }
    }
    print(kind, tally);
    EXPECT_GT(tally.applied, 0) << kind.name;
    shown += kind.shows && tally.applied > 0;
  }
  std::printf("%d kinds named by both\n", shown);
  EXPECT_GE(shown, 15);
}

} // namespace
} // namespace orrery::test
