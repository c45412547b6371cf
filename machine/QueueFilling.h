// What filling the instruction queues of a chip between two steps would take.
// Rule 10 (README.md) has them filled before tick 0, in no time: this is not in
// any step's ticks. Not here: what is fetched during a step, which is.
#pragma once

#include "machine/Program.h"

namespace orrery {

struct QueueFilling {
  /// The first chunks of each queue's text, the ICU's too, as many as the
  /// queue's buffer takes whole.
  int64_t chunks = 0;
  /// If the ICU brought them like any others, one after another, from tick 0:
  /// the tick at which the last one is in its buffer. 0 without chunks.
  Tick ticks = 0;
};

QueueFilling queueFilling(const Program &program, const Machine &machine);

} // namespace orrery
