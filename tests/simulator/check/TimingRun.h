// What a timing-only run says against a program, for tests that hold checker
// and simulator against each other.
#pragma once

#include "machine/Validate.h"

#ifdef ORRERY_WITH_SIMULATOR
#include "simulator/Simulator.h"
#endif

#include <string>

namespace orrery::test {

/// Empty when the run has nothing to object; the simulator runs only what
/// loadProgram would let through ("loader: ...").
inline std::string runComplaint(const Program &program,
                                const Machine &machine) {
  if (Status status = validateProgram(program, machine); !status) {
    return "loader: " + status.error().message;
  }
#ifdef ORRERY_WITH_SIMULATOR
  sim::Simulator simulator(machine);
  auto result = simulator.run(program, {0, program.tokens, {}});
  if (!result) {
    return result.error().message;
  }
  if (result->ticks != program.predictedTicks) {
    return "ends at tick " + std::to_string(result->ticks) + ", predicted " +
           std::to_string(program.predictedTicks);
  }
  for (const auto &stream : result->counters.streams) {
    if (stream.droppedVectors > 0) {
      return "counts dropped vectors";
    }
  }
#endif
  return "";
}

} // namespace orrery::test
