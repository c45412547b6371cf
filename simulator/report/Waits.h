// Where a chip waits: ticks in which nothing is under way, by what ends them.
#pragma once

#include "simulator/Simulator.h"

namespace orrery::sim {

/// Fills the wait ticks of result.counters. Between the tick at which an
/// instruction was issued and that of its last effect, it is under way.
void countWaits(const Program &program, StepResult &result);

} // namespace orrery::sim
