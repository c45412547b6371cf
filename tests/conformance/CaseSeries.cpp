#include "tests/conformance/CaseSeries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace orrery::test {

static int64_t fromEnvironment(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

/// Numbers do not tell reasons apart.
static std::string withoutNumbers(const std::string &message) {
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

bool CaseSeries::mayRefuse(const std::string &reason) const {
  return std::ranges::any_of(lacks, [&](const char *lack) {
    return reason.find(lack) != std::string::npos;
  });
}

void CaseSeries::add(const CaseOutcome &outcome) {
  ++cases;
  if (!outcome.refusal.empty()) {
    ++refusals[withoutNumbers(outcome.refusal)];
    return;
  }
  ++ran;
  crossed += outcome.buckets > 1;
  cut += outcome.cutStages > 0;
  cutRanks += outcome.cutStages > 0 && outcome.ranks > 1;
  relayed += outcome.relays > 0;
  spread += outcome.cables > 1;
  sum.steps += outcome.steps;
  sum.positions += outcome.positions;
  sum.logits += outcome.logits;
  sum.instructions += outcome.instructions;
  sum.programs += outcome.programs;
  sum.ticks += outcome.ticks;
  sum.chips += outcome.chips;
  sum.linkVectors += outcome.linkVectors;
  sum.fetches += outcome.fetches;
  sum.partials += outcome.partials;
}

void CaseSeries::print() const {
  std::printf("%lld of %lld cases ran on %lld chips in all, %lld over a bucket "
              "border, %lld with a feed-forward network cut (%lld of them "
              "over ranks), %lld over third chips, %lld over several cables: "
              "%lld programs, %lld steps, %lld positions, %lld logits "
              "equal bit for bit, %lld instructions and %lld ticks as "
              "predicted, %lld fetches, %lld vectors over links, %lld matmuls "
              "of partials\n",
              (long long)ran, (long long)cases, (long long)sum.chips,
              (long long)crossed, (long long)cut, (long long)cutRanks,
              (long long)relayed, (long long)spread, (long long)sum.programs,
              (long long)sum.steps, (long long)sum.positions,
              (long long)sum.logits, (long long)sum.instructions,
              (long long)sum.ticks, (long long)sum.fetches,
              (long long)sum.linkVectors, (long long)sum.partials);
  for (const auto &[reason, count] : refusals) {
    std::printf("  refused %d: %s\n", count, reason.c_str());
  }
}

void CaseSeries::run(int64_t number,
                     const std::function<DrawnCase(uint64_t)> &draw) {
  number = fromEnvironment("ORRERY_RANDOM_CASES", number);
  int64_t first = fromEnvironment("ORRERY_RANDOM_SEED", 1);
  bool verbose = std::getenv("ORRERY_RANDOM_VERBOSE") != nullptr;
  for (int64_t seed = first; seed < first + number; ++seed) {
    DrawnCase one = draw(uint64_t(seed));
    auto start = std::chrono::steady_clock::now();
    CaseOutcome outcome = runCase(one.drawn);
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    if (verbose) {
      std::printf("%s\n  %.2f s, %lld programs, %lld steps %s%s\n",
                  one.text.c_str(), took.count(), (long long)outcome.programs,
                  (long long)outcome.steps, outcome.refusal.c_str(),
                  outcome.failure.c_str());
      std::fflush(stdout);
    }
    EXPECT_EQ(outcome.failure, "") << one.text;
    EXPECT_EQ(outcome.refusal.find('\n'), std::string::npos) << one.text;
    EXPECT_TRUE(outcome.refusal.empty() || mayRefuse(outcome.refusal))
        << outcome.refusal << "\n"
        << one.text;
    add(outcome);
  }
  print();
}

} // namespace orrery::test
