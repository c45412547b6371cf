// A block of 32 weight codes in registers and its integer dot product, for the
// formats of Matrix.h.
#pragma once

#include "gpu-reference/Matrix.h"
#include "gpu-reference/Numerics.cuh"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

// `kLog2Steps`: the dot product times 2^kLog2Steps counts accumulator steps.

/// q8_0: two loads of 16 bytes.
struct Codes8 {
  static constexpr int kLog2Steps = 36;
  int4 low, high;

  /// Where a block of a row lies.
  __device__ static const uint8_t *place(const uint8_t *row, int32_t block) {
    return row + block / kBlockGroup * (kBlockGroup * 32) +
           block % kBlockGroup * 16;
  }
  /// Bytes to the block that stands `blocks` behind, a multiple of kBlockGroup.
  __host__ __device__ static constexpr int64_t bytes(int64_t blocks) {
    return blocks * 32;
  }

  __device__ void load(const uint8_t *place) {
    low = __ldg(reinterpret_cast<const int4 *>(place));
    high = __ldg(reinterpret_cast<const int4 *>(place + kBlockGroup * 16));
  }

  /// With the 32 activation codes x0, x1; from kDotStart.
  __device__ int dot(const int4 &x0, const int4 &x1) const {
    int sum = __dp4a(low.x, x0.x, kDotStart);
    sum = __dp4a(low.y, x0.y, sum);
    sum = __dp4a(low.z, x0.z, sum);
    sum = __dp4a(low.w, x0.w, sum);
    sum = __dp4a(high.x, x1.x, sum);
    sum = __dp4a(high.y, x1.y, sum);
    sum = __dp4a(high.z, x1.z, sum);
    return __dp4a(high.w, x1.w, sum);
  }
};

/// q4_0: one load of 16 bytes. A nibble becomes a byte of 16 times its code by
/// a shift and a mask; the steps make up for the 16.
struct Codes4 {
  static constexpr int kLog2Steps = 32;
  static constexpr int kHigh = int(0xf0f0f0f0);
  int4 words;

  __device__ static const uint8_t *place(const uint8_t *row, int32_t block) {
    return row + block * 16;
  }
  __host__ __device__ static constexpr int64_t bytes(int64_t blocks) {
    return blocks * 16;
  }

  __device__ void load(const uint8_t *place) {
    words = __ldg(reinterpret_cast<const int4 *>(place));
  }

  __device__ static int lowCodes(int word) {
    return int(unsigned(word) << 4) & kHigh;
  }
  __device__ static int highCodes(int word) { return word & kHigh; }

  __device__ int dot(const int4 &x0, const int4 &x1) const {
    int sum = __dp4a(lowCodes(words.x), x0.x, kDotStart);
    sum = __dp4a(highCodes(words.x), x0.y, sum);
    sum = __dp4a(lowCodes(words.y), x0.z, sum);
    sum = __dp4a(highCodes(words.y), x0.w, sum);
    sum = __dp4a(lowCodes(words.z), x1.x, sum);
    sum = __dp4a(highCodes(words.z), x1.y, sum);
    sum = __dp4a(lowCodes(words.w), x1.z, sum);
    return __dp4a(highCodes(words.w), x1.w, sum);
  }
};

} // namespace orrery::gpu::ORRERY_GPU
