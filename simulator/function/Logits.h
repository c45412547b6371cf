// The logits that a step left in SRAM.
#pragma once

#include "machine/Program.h"
#include "machine/SramImage.h"

namespace orrery::sim {

/// Those of token `token`: `place.vocab` of them, none when the program makes
/// no logits.
std::vector<float> readLogits(const LogitsPlace &place, uint32_t token,
                              const SramImage &sram, int32_t lanes);

} // namespace orrery::sim
