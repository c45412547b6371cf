// What the host sets before a step: the step registers.
#pragma once

#include <cstdint>

namespace orrery::sim {

struct StepRegisters {
  uint32_t position = 0;    ///< POS: position of the step's first token
  uint32_t validTokens = 1; ///< NTOK, 1 .. T
  uint32_t lanes = 0;

  uint32_t chunk() const { return position / lanes; }
  uint32_t lane() const { return position % lanes; }
};

} // namespace orrery::sim
