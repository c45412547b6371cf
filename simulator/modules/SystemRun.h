// One token step on all chips of a system, in one SystemC simulation. The one
// place where what modules and rules throw becomes an Error.
#pragma once

#include "simulator/modules/Step.h"
#include "simulator/timing/ChipClasses.h"

namespace orrery::sim {

/// The chips of a system, by their index in SystemProgram::chips.
struct ChipSet {
  Wiring wiring;
  ChipClasses classes = eachChip(1);
  std::vector<Tick> starts = {0};
  std::vector<std::string> names = {""}; ///< for errors
};

/// Runs tasks[i], which is that of the representative of class i of the chips.
Expected<std::vector<StepResult>> runSystem(std::span<const StepTask> tasks,
                                            const ChipSet &chips);

} // namespace orrery::sim
