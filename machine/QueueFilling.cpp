#include "machine/QueueFilling.h"

#include "machine/InstructionText.h"
#include "machine/Timing.h"

#include <algorithm>

namespace orrery {

QueueFilling queueFilling(const Program &program, const Machine &machine) {
  QueueFilling out;
  for (const QueueText &text : queueTexts(program, machine)) {
    out.chunks += std::min(text.chunks, heldChunks(machine));
  }
  if (out.chunks > 0) {
    Tick last = (out.chunks - 1) * machine.fetchVectors;
    out.ticks = fetchArrival(machine, last);
  }
  return out;
}

} // namespace orrery
