// The exact accumulator (machine/numerics.h, rule 5) in few instructions.
// Equal to the definitions there for every input, infinities and NaN too;
// tests/gpu-reference/NumericsTest.cpp holds them against each other.
#pragma once

#include "gpu-reference/Cuda.h"
#include "machine/numerics.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// numerics::halfToFloat by the conversion instruction.
__device__ inline float halfValue(uint16_t half) {
#ifdef __CUDA_ARCH__
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
#else
  return numerics::halfToFloat(half);
#endif
}

/// numerics::floatTerm(x / 2^36).
__device__ inline long long roundTerm(float x) { return __float2ll_rn(x); }

/// Where a dot product of codes starts: the bits of 1.5 * 2^23, so that the
/// sum, read as a float, is 1.5 * 2^23 + isum while |isum| <= 2^22.
inline constexpr int kDotStart = 0x4b400000;

/// isum * kSteps, exactly, of a dot product from kDotStart; kSteps a power of
/// 2. Faster than a conversion, and the accumulator's steps come for free:
/// roundTerm(dotSteps<36>(dot) * (dw * dx)) == blockTerm(isum, dw, dx).
/// The product may be scaled first: where isum * dw * dx is subnormal, both
/// round to 0.
template <int kLog2Steps> __device__ inline float dotSteps(int dot) {
  constexpr auto kSteps = float(1ull << kLog2Steps);
  return ::fmaf(__int_as_float(dot), kSteps, -0x1.8p23f * kSteps);
}

/// `pointer`, so that the compiler takes it as it is instead of computing it
/// again in every turn of a loop.
template <class T> __device__ const T *computed(const T *pointer) {
#ifdef __CUDA_ARCH__
  asm("" : "+l"(pointer));
#endif
  return pointer;
}

/// `index`, so that the compiler adds it to pointers where they are used
/// instead of moving every pointer on.
__device__ inline int32_t computed(int32_t index) {
#ifdef __CUDA_ARCH__
  asm("" : "+r"(index));
#endif
  return index;
}

/// A sum that checks itself as numerics::accumulate does.
struct CheckedSum {
  int64_t sum = 0;
  bool inRange = true;

  __device__ void add(int64_t term) {
    inRange &= numerics::accumulate(sum, term);
  }
};

} // namespace orrery::gpu::ORRERY_GPU
