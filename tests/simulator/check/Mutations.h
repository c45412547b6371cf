// Ways to break a correct program, one at a time. Each is illegal by
// construction (the comment at its maker says why) or draws again.
#pragma once

#include "machine/Program.h"
#include "tests/simulator/check/Random.h"

#include <functional>
#include <string>
#include <vector>

namespace orrery::test {

struct Mutation {
  const char *name;
  /// Rules of which the checker must report at least one.
  std::vector<std::string> rules;
  /// Whether the break shows in what a run does; else in the program file
  /// alone, and only the checker can see it.
  bool shows;
  /// False when this draw does not apply to the program. The machine is there
  /// to be changed, too.
  std::function<bool(Program &, Machine &, Random &)> apply;
};

const std::vector<Mutation> &mutations();

/// Applies until program or machine has changed, and sorts the program by tick
/// again. False when none of 200 draws applied.
bool mutate(const Mutation &mutation, Program &program, Machine &machine,
            Random &random);

} // namespace orrery::test
