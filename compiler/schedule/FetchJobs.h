// What of a program's text must be fetched, and when at the earliest and at the
// latest.
#pragma once

#include "machine/InstructionText.h"

namespace orrery::schedule {

/// One chunk that its queue does not hold before tick 0.
struct FetchJob {
  QueueId queue;
  int64_t chunk;     ///< among all chunks of the program
  Tick from;         ///< the first tick at which the queue's buffer has room
  Tick until;        ///< the last one at which a fetch is in time
  Tick needed;       ///< at which the first instruction in it is due
  uint32_t location; ///< of that instruction
};

/// Of all queues in `texts`; a queue's come one after another, with rising
/// `from`, `until` and `chunk`.
std::vector<FetchJob> fetchJobs(const std::vector<QueueText> &texts,
                                const Program &program, const Machine &machine);

} // namespace orrery::schedule
