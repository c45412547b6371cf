// What happens on every link of a system, vector by vector: the slow and
// obvious counterpart of simulator/check/Links.cpp.
#pragma once

#include "machine/SystemProgram.h"

#include <vector>

namespace orrery::test {

/// One vector that crosses a link, in ticks of the step.
struct CrossingVector {
  size_t send, receive; ///< instructions of the two parts
  uint32_t width;
  Tick sent, arrived, received;
};

/// A direction of a cable between two bound links.
struct WireRun {
  size_t from, to; ///< indices into SystemProgram::chips
  int fromLink, toLink;
  std::vector<CrossingVector> vectors; ///< in order
};

/// The wires over which something goes. Burst k of the one end is taken for
/// burst k of the other; what one end has more of is left out.
std::vector<WireRun> wireRuns(const SystemProgram &system,
                              const Machine &machine);

/// By how much the least timely vector comes too early to be late; negative:
/// it is late.
Tick slackOf(const WireRun &wire);
/// The most stream vectors that the receiver's buffer ever holds.
int64_t peakOf(const WireRun &wire);

/// The instructions of a part that send (or receive) on a link, by tick.
std::vector<size_t> sendsOf(const Program &part, int link);
std::vector<size_t> receivesOf(const Program &part, int link);

} // namespace orrery::test
