// Which chips of a system program are the ranks of which stage.
#pragma once

#include "machine/SystemProgram.h"

namespace orrery::runtime {

/// [stage][rank]: index into SystemProgram::chips.
inline std::vector<std::vector<size_t>>
stageChips(const SystemProgram &program) {
  std::vector<std::vector<size_t>> out;
  for (size_t c = 0; c < program.chips.size(); ++c) {
    const ChipProgram &chip = program.chips[c];
    if (chip.stage >= out.size()) {
      out.resize(chip.stage + 1);
    }
    auto &ranks = out[chip.stage];
    if (chip.rank >= ranks.size()) {
      ranks.resize(chip.rank + 1);
    }
    ranks[chip.rank] = c;
  }
  return out;
}

} // namespace orrery::runtime
