// A row's elements into the forms that an ActivationView has.
#pragma once

#include "gpu-reference/Activations.h"
#include "gpu-reference/kernels/WarpReduce.cuh"
#include "machine/numerics.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// Writes element i of a row. The 32 threads of a warp call it together for one
/// block of 32, thread l for its element l; i may be up to paddedK(), `value`
/// is 0 from k on.
__device__ inline void storeElement(const ActivationView &out, int32_t row,
                                    int32_t i, float value) {
  const int64_t padded = int64_t(row) * out.paddedK() + i;
  if (out.values != nullptr && i < out.k) {
    out.values[int64_t(row) * out.k + i] = value;
  }
  if (out.halves != nullptr) {
    out.halves[padded] = numerics::floatToHalf(value);
  }
  if (out.codes != nullptr) {
    // numerics::quantizeA8Block, an element a thread.
    const float amax = warpFiniteAmax(value);
    const bool usable = amax > 0.0f;
    const float id = usable ? 127.0f / amax : 0.0f;
    out.codes[padded] = usable ? numerics::roundToCode(value * id) : int8_t(0);
    if (i % numerics::kBlock == 0) {
      const float scale = amax / 127.0f;
      out.scales[int64_t(row) * out.blocks() + i / numerics::kBlock] = scale;
      // Many threads may write the same word: all of them a 1.
      if (out.large != nullptr && !(scale < kLargeScale)) {
        *out.large = 1;
      }
    }
  }
}

} // namespace orrery::gpu::ORRERY_GPU
