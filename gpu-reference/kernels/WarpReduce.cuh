// Sums and maxima over the 32 threads of a warp, all of which must call.
#pragma once

#include "gpu-reference/Cuda.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

inline constexpr unsigned kWholeWarp = 0xffffffffu;

/// One number per f32, in the order of the numbers (-0 below +0); NaN is not
/// ordered.
__host__ __device__ inline uint32_t orderedBits(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

__host__ __device__ inline float floatOfOrdered(uint32_t ordered) {
  return __builtin_bit_cast(float, (ordered >> 31) != 0 ? ordered & 0x7fffffffu
                                                        : ~ordered);
}

__device__ inline float warpMax(float x) {
  return floatOfOrdered(__reduce_max_sync(kWholeWarp, orderedBits(x)));
}

/// Modulo 2^32.
__device__ inline uint32_t warpSum(uint32_t x) {
  return __reduce_add_sync(kWholeWarp, x);
}

/// Greatest magnitude of the warp's x as numerics::finiteAmax gives it: NaN if
/// one of them is not finite.
__device__ inline float warpFiniteAmax(float x) {
  const uint32_t magnitude = __builtin_bit_cast(uint32_t, x) & 0x7fffffffu;
  const uint32_t amax = __reduce_max_sync(kWholeWarp, magnitude);
  return __builtin_bit_cast(float, amax >= 0x7f800000u ? 0x7fc00000u : amax);
}

} // namespace orrery::gpu::ORRERY_GPU
