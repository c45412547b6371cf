// The algorithm: gangs one after another, each at the first tick at which its
// operands are there and everything it needs is free.
#pragma once

#include "compiler/schedule/Problem.h"
#include "machine/Result.h"

namespace orrery::schedule {

struct ListOptions {
  /// Ignore ports, units and streams: what remains is the critical path, a
  /// lower bound of any schedule of these gangs.
  bool unlimited = false;
};

/// Solves `problem`. Fails when a gang cannot be placed at all, for example
/// because its own members collide or activation entries run out.
Expected<Schedule> listSchedule(const Problem &problem,
                                const ListOptions &options = {});

} // namespace orrery::schedule
