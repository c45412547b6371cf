// The verifier: does a schedule keep the problem's rules? It sorts what the
// finished instructions occupy and looks at neighbours; it shares nothing with
// the tables the algorithm searched.
#pragma once

#include "compiler/schedule/Problem.h"
#include "machine/Result.h"

namespace orrery::schedule {

/// Every port, unit and bank is used by one instruction at a time, no two
/// groups of streams meet, and every value is there before it is used
/// (VerifyOrder.h). The error names both ends and their ticks.
Status verify(const Problem &problem, const Schedule &schedule);

} // namespace orrery::schedule
