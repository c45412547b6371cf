// Drawn cases one after another: each must run and hold, or be refused for a
// reason that such a draw can have. ORRERY_RANDOM_CASES says how many run,
// ORRERY_RANDOM_SEED the first seed, ORRERY_RANDOM_VERBOSE prints each.
#pragma once

#include "tests/conformance/CaseRun.h"

#include <functional>
#include <map>
#include <vector>

namespace orrery::test {

struct DrawnCase {
  RandomCase drawn;
  std::string text;
};

class CaseSeries {
public:
  /// `lacks`: words of refusals that are no fault.
  explicit CaseSeries(std::vector<const char *> lacks)
      : lacks(std::move(lacks)) {}

  /// Runs `cases` cases, fewer or more if the environment says so, and holds
  /// each against what it must be; GoogleTest's failures name the case.
  void run(int64_t cases, const std::function<DrawnCase(uint64_t)> &draw);

  int64_t cases = 0, ran = 0, crossed = 0;
  int64_t cut = 0;      ///< ran with a stage inside a feed-forward network
  int64_t cutRanks = 0; ///< of those: with several ranks a stage
  int64_t relayed = 0;  ///< ran with a relay
  int64_t spread = 0;   ///< ran with several cables between stages
  CaseOutcome sum;      ///< counts only

private:
  void add(const CaseOutcome &outcome);
  void print() const;
  bool mayRefuse(const std::string &reason) const;

  std::vector<const char *> lacks;
  std::map<std::string, int> refusals;
};

} // namespace orrery::test
