// What the matrix kernels share: arguments, sums of terms, results.
//
// A fast sum adds terms without looking at them. That is exact while every
// activation scale is below MatrixView::activationLimit; where one is not, the
// kernels add the row again with checks, by the definition.
#pragma once

#include "gpu-reference/Activations.h"
#include "gpu-reference/Fault.h"
#include "gpu-reference/Matrix.h"
#include "gpu-reference/Numerics.cuh"
#include "gpu-reference/kernels/WeightCodes.cuh"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

inline constexpr uint32_t kAllLanes = ~0u;

struct ProductArguments {
  MatrixView weight;
  ActivationView x;
  float *y;
  int64_t stride;
  FaultSite site;

  __device__ void store(int32_t row, int32_t t, float value) const {
    y[t * stride + row] = value;
  }
  /// NaN and a report if the sum is not in range.
  __device__ void store(int32_t row, int32_t t, const CheckedSum &sum) const {
    if (sum.inRange && numerics::accumulatorInRange(sum.sum)) {
      store(row, t, numerics::readAccumulator(sum.sum));
      return;
    }
    store(row, t, numerics::bitsToFloat(0x7fc00000u));
    site.report(uint32_t(t), uint32_t(row));
  }
};

/// The sum over kLanes neighbouring lanes, in each of them; all lanes of the
/// warp take part.
template <int kLanes, class Value> __device__ Value sumLanes(Value sum) {
  for (int bits = kLanes / 2; bits > 0; bits /= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, bits);
  }
  return sum;
}

/// Likewise over a whole warp, modulo 2^64: three reductions of at most 22 bits
/// a lane, none of which can overflow or matters if it does.
__device__ inline unsigned long long sumWarp(unsigned long long sum) {
  constexpr uint32_t kMask = (1u << 22) - 1;
  const uint32_t low = __reduce_add_sync(kAllLanes, uint32_t(sum) & kMask);
  const uint32_t middle =
      __reduce_add_sync(kAllLanes, uint32_t(sum >> 22) & kMask);
  const uint32_t high = __reduce_add_sync(kAllLanes, uint32_t(sum >> 44));
  return low + (static_cast<unsigned long long>(middle) << 22) +
         (static_cast<unsigned long long>(high) << 44);
}

/// Likewise, in two reductions, where the sum fits in kNarrowBits, sign and
/// all. (High parts hold 27 + 32 bits, but what low parts carry comes on top.)
inline constexpr int kNarrowBits = 58;
__device__ inline long long sumWarpNarrow(unsigned long long sum) {
  constexpr int kLow = 27; // 32 of them fit in 32 bits
  const uint32_t low =
      __reduce_add_sync(kAllLanes, uint32_t(sum) & ((1u << kLow) - 1));
  const auto high =
      int32_t(__reduce_add_sync(kAllLanes, uint32_t(sum >> kLow)));
  return static_cast<long long>(high) * (1 << kLow) + low;
}

/// A fast sum.
struct ExactSum {
  static constexpr bool kHasLimit = true;
  unsigned long long sum = 0;

  /// Adds rint(f32(steps * scale)).
  __device__ void add(float steps, float scale) {
    sum += static_cast<unsigned long long>(roundTerm(steps * scale));
  }
  template <int kLanes> __device__ void combine() {
    sum = kLanes == 32 ? sumWarp(sum) : sumLanes<kLanes>(sum);
  }
  /// Where the result fits in kNarrowBits.
  template <int kLanes> __device__ void combineNarrow() {
    sum = kLanes == 32 ? static_cast<unsigned long long>(sumWarpNarrow(sum))
                       : sumLanes<kLanes>(sum);
  }
  __device__ float read() const {
    return numerics::readAccumulator(int64_t(sum));
  }
};

#ifdef ORRERY_INSPECT_KERNELS
/// What a sum in f32 would cost: to be counted by inspect-kernels, never run.
struct PlainSum {
  static constexpr bool kHasLimit = false;
  float sum = 0;

  __device__ void add(float steps, float scale) {
    sum = ::fmaf(steps, scale, sum);
  }
  template <int kLanes> __device__ void combineNarrow() {
    sum = sumLanes<kLanes>(sum);
  }
  __device__ float read() const { return sum * 0x1p-36f; }
};
#endif

/// The checked sum over kLanes neighbouring lanes, in each of them.
template <int kLanes> __device__ CheckedSum combine(CheckedSum result) {
  for (int bits = kLanes / 2; bits > 0; bits /= 2) {
    const auto other = int64_t(__shfl_xor_sync(
        kAllLanes, static_cast<unsigned long long>(result.sum), bits));
    const int inRange = __shfl_xor_sync(kAllLanes, int(result.inRange), bits);
    result.add(other);
    result.inRange &= inRange != 0;
  }
  return result;
}

/// Blocks `first`, first + kStep, ... of a row, checked.
template <class Codes, int kStep>
__device__ CheckedSum checkedBlocks(const ProductArguments &a, int32_t row,
                                    int32_t t, int32_t first) {
  CheckedSum result;
  const uint8_t *codes = a.weight.codes + row * a.weight.rowBytes;
  const uint16_t *dw = a.weight.scales + int64_t(row) * a.weight.scaleStride;
  const int8_t *x = a.x.codes + t * a.x.paddedK();
  const float *dx = a.x.scales + int64_t(t) * a.x.blocks();
#pragma unroll 1
  for (int32_t b = first; b < a.weight.blocks(); b += kStep) {
    Codes w;
    w.load(Codes::place(codes, b));
    const auto *at = reinterpret_cast<const int4 *>(x + int64_t(b) * 32);
    const float steps =
        dotSteps<Codes::kLog2Steps>(w.dot(__ldg(at), __ldg(at + 1)));
    result.add(roundTerm(steps * (halfValue(dw[b]) * dx[b])));
  }
  return result;
}

} // namespace orrery::gpu::ORRERY_GPU
