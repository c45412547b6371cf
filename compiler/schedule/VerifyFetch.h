// The verifier of instruction fetch, over a finished program. It walks the
// texts and shares nothing with the tables the algorithm searched.
#pragma once

#include "machine/Program.h"

namespace orrery::schedule {

/// Checks that
///  - each chunk of text has a place, and each fetch brings the next one of its
///    queue from there, into a buffer that has room;
///  - every instruction is in its queue's buffer when it is due;
///  - the ICU does one fetch at a time, through a read port and from a bank
///  that
///    nobody else uses.
/// The error names the queue and the tick.
Status verifyFetch(const Program &program, const Machine &machine);

} // namespace orrery::schedule
