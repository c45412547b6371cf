// Ways to break a correct system of chips, one at a time. Each is illegal by
// construction (the comment at its maker says why) or draws again.
#pragma once

#include "tests/simulator/check/Random.h"
#include "tests/simulator/check/SystemBuilder.h"

#include <functional>
#include <string>
#include <vector>

namespace orrery::test {

struct SystemMutation {
  const char *name;
  /// Rules of which the checker must report at least one.
  std::vector<std::string> rules;
  /// Whether a timing-only run sees it. Not: links that lead to other ranks
  /// than meant, where the values are wrong.
  bool shows;
  /// False when this draw does not apply to the system.
  std::function<bool(BuiltSystem &, Random &)> apply;
};

const std::vector<SystemMutation> &systemMutations();

/// Applies until the system has changed, and sorts its parts by tick again.
/// False when none of 100 draws applied.
bool mutate(const SystemMutation &mutation, BuiltSystem &system,
            Random &random);

} // namespace orrery::test
