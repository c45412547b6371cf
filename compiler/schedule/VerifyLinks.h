// The verifier's part for links between chips. Books of its own, by tick.
#pragma once

#include "compiler/schedule/Problem.h"
#include "machine/Result.h"

namespace orrery::schedule {

/// On every link bursts go and come in program order. Of the links inside a
/// tensor-parallel group: what is received was sent, in as many vectors, and
/// has crossed; nothing that was sent stays behind; a receiver's buffer never
/// holds more than it can. The error names both ends and their ticks.
Status verifyLinks(const Problem &problem, const Schedule &schedule);

} // namespace orrery::schedule
