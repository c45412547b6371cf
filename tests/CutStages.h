// How many stages of a program begin inside a feed-forward network, seen by
// what its instructions are for.
#pragma once

#include "machine/SystemProgram.h"

#include <set>

namespace orrery::test {

/// Whether the first of a part's sections is that behind gate and up.
inline bool beginsWithDown(const Program &part) {
  for (const std::string &location : part.locations) {
    if (location.ends_with(" ffn_down")) {
      return true;
    }
    if (location.ends_with(" attention") || location.ends_with(" ffn_gate")) {
      return false;
    }
  }
  return false;
}

inline int64_t cutStages(const SystemProgram &program) {
  std::set<uint32_t> stages;
  for (const ChipProgram &chip : program.chips) {
    if (beginsWithDown(program.parts[chip.part])) {
      stages.insert(chip.stage);
    }
  }
  return int64_t(stages.size());
}

} // namespace orrery::test
