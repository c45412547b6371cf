// What a timing rule throws when an instruction breaks it. The rules know
// cycles, not names: the modules add unit, instruction and source location.
#pragma once

#include "machine/Geometry.h"

#include <string>
#include <utility>

namespace orrery::sim {

struct Illegal {
  Tick due;          ///< the cycle at which the rule is broken
  std::string found; ///< what was expected and found there, one line

  Illegal(Tick due, std::string found) : due(due), found(std::move(found)) {}
};

} // namespace orrery::sim
