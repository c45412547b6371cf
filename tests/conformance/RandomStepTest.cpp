// The two equalities on random shapes and chips: logits of the simulator are
// those of the interpreter bit for bit, and every instruction runs in the tick
// the compiler gave it. ORRERY_RANDOM_CASES says how many cases run,
// ORRERY_RANDOM_SEED the first seed.
#include "tests/conformance/CaseRun.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace orrery::test {
namespace {

int64_t fromEnvironment(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

/// A chip may be too small for a case; nothing else is wrong with any.
bool namesALack(const std::string &refusal) {
  for (const char *lack :
       {"no room", "does not fit", "activation vectors, a plane holds",
        "a bank has", "too full", "more streams than the chip's"}) {
    if (refusal.find(lack) != std::string::npos) {
      return true;
    }
  }
  return false;
}

/// Numbers do not tell reasons apart.
std::string withoutNumbers(const std::string &message) {
  std::string kind;
  for (char c : message) {
    bool digit = c >= '0' && c <= '9';
    if (!digit) {
      kind += c;
    } else if (kind.empty() || kind.back() != '#') {
      kind += '#';
    }
  }
  return kind;
}

struct Totals {
  int64_t ran = 0, crossed = 0, steps = 0, positions = 0, logits = 0;
  int64_t instructions = 0, programs = 0, ticks = 0;
  std::map<std::string, int> refusals;

  void add(const CaseOutcome &outcome) {
    if (!outcome.refusal.empty()) {
      ++refusals[withoutNumbers(outcome.refusal)];
      return;
    }
    ++ran;
    crossed += outcome.buckets > 1;
    steps += outcome.steps;
    positions += outcome.positions;
    logits += outcome.logits;
    instructions += outcome.instructions;
    programs += outcome.programs;
    ticks += outcome.ticks;
  }
  void print(int64_t cases) const {
    std::printf("%lld of %lld cases ran, %lld over a bucket border: %lld "
                "programs, %lld steps, %lld positions, %lld logits equal bit "
                "for bit, %lld instructions and %lld ticks as predicted\n",
                (long long)ran, (long long)cases, (long long)crossed,
                (long long)programs, (long long)steps, (long long)positions,
                (long long)logits, (long long)instructions, (long long)ticks);
    for (const auto &[reason, count] : refusals) {
      std::printf("  refused %d: %s\n", count, reason.c_str());
    }
  }
};

TEST(RandomStepTest, BitsAndTicks) {
  int64_t cases = fromEnvironment("ORRERY_RANDOM_CASES", 120);
  int64_t first = fromEnvironment("ORRERY_RANDOM_SEED", 1);
  bool verbose = std::getenv("ORRERY_RANDOM_VERBOSE") != nullptr;
  Totals totals;
  for (int64_t seed = first; seed < first + cases; ++seed) {
    RandomCase drawn = drawCase(uint64_t(seed));
    auto start = std::chrono::steady_clock::now();
    CaseOutcome outcome = runCase(drawn);
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    if (verbose) {
      std::printf("%s\n  %.2f s, %lld programs, %lld steps %s%s\n",
                  drawn.text().c_str(), took.count(),
                  (long long)outcome.programs, (long long)outcome.steps,
                  outcome.refusal.c_str(), outcome.failure.c_str());
      std::fflush(stdout);
    }
    EXPECT_EQ(outcome.failure, "") << drawn.text();
    EXPECT_EQ(outcome.refusal.find('\n'), std::string::npos) << drawn.text();
    EXPECT_TRUE(outcome.refusal.empty() || namesALack(outcome.refusal))
        << outcome.refusal << "\n"
        << drawn.text();
    totals.add(outcome);
  }
  totals.print(cases);
  EXPECT_GE(2 * totals.ran, cases);
}

} // namespace
} // namespace orrery::test
