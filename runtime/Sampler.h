// Which token comes next: the greatest logit, or one drawn by chance that is
// the same on every run.
#pragma once

#include <cstdint>
#include <span>

namespace orrery::runtime {

struct Sampler {
  double temperature = 0; ///< 0: greedy
  uint64_t seed = 0;

  /// The id after the token at `position`; `greedy` is the chip's argmax. Draws
  /// with the words of (seed, position), so a run repeats whatever its chunks.
  int32_t next(std::span<const float> logits, int32_t greedy,
               uint32_t position) const;
};

} // namespace orrery::runtime
