// What a lane of the GEMV over codes does: its blocks of a few weight rows
// against those of a few activation rows, into sums of its own. Not here: the
// kernel (Gemv.cu).
#pragma once

#include "gpu-reference/kernels/Product.cuh"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// kRows rows of weights against kTokens rows of activations in one lane, which
/// takes blocks lane, lane + kLanes, ...
template <class Codes, class Sum, int kLanes, int kTokens, int kRows,
          int kUnroll>
struct CodesLane {
  const uint8_t *codes[kRows];
  const uint16_t *dw[kRows];
  const int8_t *x[kTokens];
  const float *dx[kTokens];
  int32_t end; ///< of a row, behind the lane's first block
  Sum sum[kRows][kTokens];

  /// Behind the last row or token, the last one again: loads stay in bounds.
  __device__ CodesLane(const ProductArguments &a, int32_t row, int32_t lane)
      : end(a.weight.blocks() - lane) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int64_t at = min(row + r, a.weight.rows - 1);
      codes[r] =
          computed(Codes::place(a.weight.codes + at * a.weight.rowBytes, lane));
      dw[r] = computed(a.weight.scales + at * a.weight.scaleStride + lane);
    }
#pragma unroll
    for (int t = 0; t < kTokens; ++t) {
      const int64_t at = min(t, a.x.rows - 1);
      x[t] = computed<int8_t>(a.x.codes + at * a.x.paddedK() +
                              lane * numerics::kBlock);
      dx[t] = computed<float>(a.x.scales + at * a.x.blocks() + lane);
    }
  }

  /// All blocks of the lane.
  __device__ void addAll() {
    int32_t first = 0;
#pragma unroll 1
    for (; first + (kUnroll - 1) * kLanes < end; first += kUnroll * kLanes) {
      step<true>(computed(first));
    }
    if (first < end) {
      step<false>(first);
    }
  }

private:
  /// Blocks first, first + kLanes, ... after the lane's first one: kUnroll of
  /// them, or those before `end`.
  template <bool kAll> __device__ void step(int32_t first) {
    Codes w[kUnroll][kRows];
    uint16_t d[kUnroll][kRows];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (kAll || first + u * kLanes < end) {
          w[u][r].load(codes[r] + Codes::bytes(computed(first)) +
                       Codes::bytes(u * kLanes));
          d[u][r] = __ldg(dw[r] + first + u * kLanes);
        }
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int t = 0; t < kTokens; ++t) {
        if (kAll || first + u * kLanes < end) {
          multiply(w[u], d[u], t, first, u * kLanes);
        }
      }
    }
  }

  /// The block `behind` after `first`, of each weight row with token t.
  __device__ void multiply(const Codes *w, const uint16_t *d, int t,
                           int32_t first, int32_t behind) {
    const int8_t *at = x[t] + int64_t(first) * numerics::kBlock;
    const auto *place =
        reinterpret_cast<const int4 *>(at + behind * numerics::kBlock);
    const int4 x0 = __ldg(place);
    const int4 x1 = __ldg(place + 1);
    const float scale = __ldg(dx[t] + first + behind);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float steps = dotSteps<Codes::kLog2Steps>(w[r].dot(x0, x1));
      sum[r][t].add(steps, halfValue(d[r]) * scale);
    }
  }
};

} // namespace orrery::gpu::ORRERY_GPU
