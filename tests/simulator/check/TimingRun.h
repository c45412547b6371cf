// What a timing-only run says against a program, for tests that hold checker
// and simulator against each other.
#pragma once

#include "machine/SystemProgram.h"
#include "machine/Validate.h"

#ifdef ORRERY_WITH_SIMULATOR
#include "simulator/SystemSimulator.h"
#endif

#include <string>

namespace orrery::test {

#ifdef ORRERY_WITH_SIMULATOR
/// Of a step that broke no rule.
inline std::string stepComplaint(const sim::StepResult &result,
                                 const Program &program) {
  if (result.ticks != program.predictedTicks) {
    return "ends at tick " + std::to_string(result.ticks) + ", predicted " +
           std::to_string(program.predictedTicks);
  }
  for (const auto &stream : result.counters.streams) {
    if (stream.droppedVectors > 0) {
      return "counts dropped vectors";
    }
  }
  return "";
}
#endif

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
  return stepComplaint(*result, program);
#else
  return "";
#endif
}

/// The same of a system of chips, every one of which is simulated.
inline std::string runComplaint(const SystemProgram &program,
                                const Machine &machine) {
  if (Status status = validateSystemProgram(program, machine); !status) {
    return "loader: " + status.error().message;
  }
#ifdef ORRERY_WITH_SIMULATOR
  sim::SystemSimulator simulator(machine, sim::Alike::Each);
  auto result = simulator.run(program, {0, program.parts[0].tokens, {}});
  if (!result) {
    return result.error().message;
  }
  for (size_t chip = 0; chip < program.chips.size(); ++chip) {
    std::string complaint = stepComplaint(
        result->of(chip), program.parts[program.chips[chip].part]);
    if (!complaint.empty()) {
      return "chip " + std::to_string(program.chips[chip].chip) + " " +
             complaint;
    }
  }
  if (result->ticks != program.predictedTicks) {
    return "the last chip ends at tick " + std::to_string(result->ticks) +
           ", predicted " + std::to_string(program.predictedTicks);
  }
#endif
  return "";
}

} // namespace orrery::test
