// From the programs of stages to that of a system: which chip runs what, over
// which ports, from which tick on.
#pragma once

#include "machine/SystemProgram.h"

namespace orrery {

struct StageOnChips {
  uint32_t part;
  bool ring;      ///< only neighbours in the order of `chips` are linked
  int32_t cables; ///< to the next stage, each with a link number of its own
  std::vector<int32_t> chips; ///< in rank order
};

/// Fills `system.chips`, by chip, and `predictedTicks`; `system.parts` are
/// there. A stage starts as early as what it receives from the stage before
/// allows, over all cables. Fails for a link without a cable.
Status joinStages(SystemProgram &system, const Machine &machine,
                  const std::vector<StageOnChips> &stages);

} // namespace orrery
