// Checker and simulator, written apart, judge alike: programs whose gangs have
// been moved about, and programs run on a machine with other latencies. Both
// are sometimes still correct and sometimes not.
#include "simulator/check/Check.h"
#include "tests/simulator/check/Board.h"
#include "tests/simulator/check/ProgramBuilder.h"
#include "tests/simulator/check/Random.h"
#include "tests/simulator/check/TimingRun.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

namespace orrery {
namespace {

/// Lifetimes and the end as they follow from the instructions.
void restate(Program &program, const Machine &machine) {
  for (SramRegion &r : program.regions) {
    if (r.kind == RegionKind::Temporary) {
      r.born = std::numeric_limits<Tick>::max();
      r.dies = 0;
    }
  }
  for (const Instruction &i : program.instructions) {
    for (const test::Touch &t : test::touchesOf(i, machine)) {
      for (SramRegion &r : program.regions) {
        if (r.kind == RegionKind::Temporary && t.slice >= r.slice &&
            t.slice < r.slice + r.width && t.bank == r.bank &&
            t.address >= r.base && t.address < int64_t(r.base) + r.length) {
          r.born = std::min(r.born, t.tick);
          r.dies = std::max(r.dies, t.tick + 1);
        }
      }
    }
  }
  program.predictedTicks = test::endTickOf(program, machine);
}

/// No two regions of the builder share an address, so that lifetimes can be
/// restated from the accesses.
bool sharesSram(const Program &program) {
  for (const SramRegion &a : program.regions) {
    for (const SramRegion &b : program.regions) {
      if (&a != &b && a.bank == b.bank && a.slice < b.slice + b.width &&
          b.slice < a.slice + a.width && a.base < int64_t(b.base) + b.length &&
          b.base < int64_t(a.base) + a.length) {
        return true;
      }
    }
  }
  return false;
}

/// Violations that a timing-only run can see. Not: what is only in the file,
/// values that nobody uses (a run uses older ones, which is legal), and single
/// lanes that are written too late.
bool breaksARun(const check::Report &report) {
  auto says = [](const check::Violation &v, const char *text) {
    return v.message.find(text) != std::string::npos;
  };
  return std::any_of(report.violations.begin(), report.violations.end(),
                     [&](const check::Violation &v) {
                       return v.rule != "capacity" && v.rule != "logits" &&
                              v.rule != "context" && !says(v, "no pass uses") &&
                              !says(v, "are written only later");
                     });
}

struct Verdicts {
  int good = 0, bad = 0;
};

void compare(const Program &program, const Machine &machine,
             Verdicts &verdicts) {
  check::Report report = check::checkProgram(program, machine);
  // Whether a run sees it depends on where the step registers append.
  if (std::any_of(
          report.violations.begin(), report.violations.end(),
          [](const check::Violation &v) { return v.rule == "stale"; })) {
    return;
  }
  std::string complaint = test::runComplaint(program, machine);
  bool bad = breaksARun(report);
  ++(bad ? verdicts.bad : verdicts.good);
#ifdef ORRERY_WITH_SIMULATOR
  EXPECT_EQ(bad, !complaint.empty())
      << "checker: " << (report.ok() ? "" : report.violations[0].message)
      << "\nrun: " << complaint;
#endif
}

TEST(AgreementTest, MovedGangs) {
  Verdicts verdicts;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::BuiltProgram built = test::buildProgram(seed);
    if (sharesSram(built.program)) {
      continue;
    }
    test::Random random(seed);
    Program &p = built.program;
    auto gang = uint32_t(random.between(1, int(p.locations.size()) - 1));
    Tick by = random.between(1, 60) * (random.chance(70) ? -1 : 1);
    bool early = false;
    for (Instruction &i : p.instructions) {
      i.tick += i.location == gang ? by : 0;
      early |= test::earliestTick(i, built.machine) < 0;
    }
    if (early) {
      continue;
    }
    test::sortByTick(p.instructions);
    restate(p, built.machine);
    compare(p, built.machine, verdicts);
  }
  std::printf("moved gangs: %d still correct, %d not\n", verdicts.good,
              verdicts.bad);
  EXPECT_GT(verdicts.good, 20);
  EXPECT_GT(verdicts.bad, 20);
}

/// One tick more of a latency that only delays the use of something: programs
/// that had a tick to spare stay correct.
TEST(AgreementTest, OtherLatencies) {
  Verdicts verdicts;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    test::BuiltProgram built = test::buildProgram(seed);
    test::Random random(seed);
    TimingParameters &t = built.machine.timing;
    Tick *latency = random.of<Tick *>(
        {&t.write, &t.load, &t.install, &t.host, &t.hostVector});
    *latency += *latency == 1 || random.chance(70) ? 1 : -1;
    SCOPED_TRACE("seed " + std::to_string(seed));
    built.program.predictedTicks =
        test::endTickOf(built.program, built.machine);
    compare(built.program, built.machine, verdicts);
  }
  std::printf("other latencies: %d still correct, %d not\n", verdicts.good,
              verdicts.bad);
  EXPECT_GT(verdicts.good, 20);
  EXPECT_GT(verdicts.bad, 10);
}

/// One fetch a few ticks off, or another buffer or latency of fetches.
TEST(AgreementTest, OtherFetches) {
  Verdicts verdicts;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::BuiltProgram built = test::buildProgram(seed);
    std::vector<Instruction *> fetches;
    for (Instruction &i : built.program.instructions) {
      if (std::holds_alternative<FetchOp>(i.operation)) {
        fetches.push_back(&i);
      }
    }
    if (fetches.empty()) {
      continue;
    }
    test::Random random(seed);
    Machine &m = built.machine;
    if (random.chance(60)) {
      Instruction &moved = *random.of(fetches);
      moved.tick = std::max<Tick>(0, moved.tick + random.between(-12, 12));
    } else if (random.chance(50)) {
      m.queueBytes += int32_t(m.instructionBytes * random.between(-3, 3));
      m.queueBytes = std::max(m.queueBytes, int32_t(m.fetchBytes()));
    } else {
      m.timing.fetch =
          std::max<Tick>(1, m.timing.fetch + random.between(-3, 3));
    }
    test::sortByTick(built.program.instructions);
    built.program.predictedTicks = test::endTickOf(built.program, m);
    compare(built.program, m, verdicts);
  }
  std::printf("other fetches: %d still correct, %d not\n", verdicts.good,
              verdicts.bad);
  EXPECT_GT(verdicts.good, 20);
  EXPECT_GT(verdicts.bad, 20);
}

} // namespace
} // namespace orrery
