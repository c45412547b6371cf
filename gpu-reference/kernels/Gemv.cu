// One weight row belongs to kLanes lanes of a warp (all 32, or 8 of them where
// rows are short); lane i takes blocks i, i + kLanes, ... whole, so that no dot
// product needs another lane. Lanes end in int64 sums, which may be combined in
// any order.
//
// Bytes in flight: kUnroll blocks are loaded before the first is used, 32 bytes
// a lane and block (q4_0: 16): 4 KiB a warp. An H100 needs 3.35 TB/s * 0.8 us /
// 132 = 20 KiB a multiprocessor (the latency is *assumed*), that is 5 warps;
// registers allow 20, and 4096 rows give it 31 in turn. Activations come
// through the L1, where all warps of a multiprocessor find the same 4.5 KB.
// Nothing is staged, so no warp waits for another before it loads.
//
// Instructions: inspect-kernels counts them. A block and row cost 2 more than a
// sum in f32 would: F2I.S64, and half of a 64-bit addition of three operands
// (IADD3, IADD3.X), into which ptxas makes two additions.
#include "gpu-reference/kernels/Gemv.h"

#include "gpu-reference/kernels/GemvHalf.h"
#include "gpu-reference/kernels/Product.cuh"

namespace orrery::gpu::ORRERY_GPU {

namespace {

constexpr int kWarps = 4; ///< of a thread block
/// Thread blocks a multiprocessor should hold at least. Without it ptxas saves
/// registers, by computing pointers again in every turn of the loop; with more
/// it spills.
template <int kTokens>
constexpr int kResident = kTokens == 1   ? 5
                          : kTokens == 2 ? 4
                          : kTokens == 4 ? 3
                                         : 2;

/// kRows rows of weights against kTokens rows of activations in one lane.
template <class Codes, class Sum, int kLanes, int kTokens, int kRows,
          int kUnroll>
struct CodesLane {
  const uint8_t *codes[kRows];
  const uint16_t *dw[kRows];
  const int8_t *x[kTokens];
  const float *dx[kTokens];
  Sum sum[kRows][kTokens];

  /// Behind the last row or token, the last one again: loads stay in bounds.
  __device__ CodesLane(const ProductArguments &a, int32_t row, int32_t lane) {
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

  /// Blocks first, first + kLanes, ... after the lane's first one: kUnroll of
  /// them, or those before `end`.
  template <bool kAll> __device__ void step(int32_t first, int32_t end) {
    Codes w[kUnroll][kRows];
    uint16_t d[kUnroll][kRows];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (kAll || first + u * kLanes < end) {
          w[u][r].load(codes[r] + Codes::bytes(first) +
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

  __device__ void multiply(const Codes *w, const uint16_t *d, int t,
                           int32_t first, int32_t behind) {
    const int8_t *codes = x[t] + int64_t(first) * numerics::kBlock;
    const auto *place =
        reinterpret_cast<const int4 *>(codes + behind * numerics::kBlock);
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

/// Whether an activation scale that this thread looks at is not below the
/// limit; the threads of a block look at all of them together.
__device__ bool findUnsafe(const ProductArguments &a) {
  bool found = false;
  const int32_t count = a.x.rows * a.x.blocks();
  for (auto i = int32_t(threadIdx.x); i < count; i += kWarps * 32) {
    found |= !(::fabsf(__ldg(a.x.scales + i)) < a.weight.activationLimit);
  }
  return found;
}

template <class Codes, class Sum, int kLanes, int kTokens, int kRows,
          int kUnroll>
__global__ void __launch_bounds__(kWarps * 32, kResident<kTokens>)
    gemvCodes(const ProductArguments a) {
  const auto thread = int32_t(blockIdx.x * (kWarps * 32) + threadIdx.x);
  const int32_t lane = thread % kLanes;
  const int32_t row = thread / kLanes * kRows;
  CodesLane<Codes, Sum, kLanes, kTokens, kRows, kUnroll> work(a, row, lane);
  const int32_t end = a.weight.blocks() - lane;
  int32_t first = 0;
#pragma unroll 1
  for (; first + (kUnroll - 1) * kLanes < end; first += kUnroll * kLanes) {
    work.template step<true>(first, end);
  }
  if (first < end) {
    work.template step<false>(first, end);
  }

  if (__syncthreads_or(findUnsafe(a))) {
    for (int32_t i = 0; i < kRows * a.x.rows; ++i) {
      const int32_t at = row + i % kRows;
      const CheckedSum sum = combine<kLanes>(checkedBlocks<Codes, kLanes>(
          a, min(at, a.weight.rows - 1), i / kRows, lane));
      if (lane == 0 && at < a.weight.rows) {
        a.store(at, i / kRows, sum);
      }
    }
    return;
  }
#pragma unroll
  for (int t = 0; t < kTokens; ++t) {
#pragma unroll
    for (int r = 0; r < kRows && t < a.x.rows; ++r) {
      work.sum[r][t].template combine<kLanes>();
      if (lane == 0 && row + r < a.weight.rows) {
        a.store(row + r, t, work.sum[r][t].read());
      }
    }
  }
}

template <class Codes, int kLanes, int kTokens, int kRows, int kUnroll>
void launch(const ProductArguments &a, cudaStream_t stream) {
  constexpr int kBlockRows = kWarps * 32 / kLanes * kRows;
  const auto blocks = unsigned((a.weight.rows + kBlockRows - 1) / kBlockRows);
  ORRERY_LAUNCH((gemvCodes<Codes, ExactSum, kLanes, kTokens, kRows, kUnroll>),
                blocks, kWarps * 32, 0, stream, a);
}

/// More activation rows mean more loads from the L1 per weight; two weight rows
/// a lane halve them again.
template <class Codes, int kLanes>
void launchTokens(const ProductArguments &a, cudaStream_t stream) {
  if (a.x.rows == 1) {
    launch<Codes, kLanes, 1, 1, 4>(a, stream);
  } else if (a.x.rows == 2) {
    launch<Codes, kLanes, 2, 1, 4>(a, stream);
  } else if (a.x.rows <= 4) {
    launch<Codes, kLanes, 4, 2, 2>(a, stream);
  } else {
    launch<Codes, kLanes, 8, 2, 2>(a, stream);
  }
}

/// Short rows would leave most lanes of a warp without a block.
template <class Codes>
void launchLanes(const ProductArguments &a, cudaStream_t stream) {
  constexpr int32_t kShort = 48;
  if (a.weight.blocks() <= kShort) {
    launchTokens<Codes, 8>(a, stream);
  } else {
    launchTokens<Codes, 32>(a, stream);
  }
}

#ifdef ORRERY_INSPECT_KERNELS
// The same kernels over a plain sum.
template __global__ void
gemvCodes<Codes8, PlainSum, 32, 1, 1, 4>(const ProductArguments);
template __global__ void
gemvCodes<Codes8, PlainSum, 32, 2, 1, 4>(const ProductArguments);
template __global__ void
gemvCodes<Codes8, PlainSum, 32, 8, 2, 2>(const ProductArguments);
template __global__ void
gemvCodes<Codes4, PlainSum, 32, 1, 1, 4>(const ProductArguments);
#endif

} // namespace

void gemv(const MatrixView &weight, const ActivationView &x, float *y,
          int64_t stride, FaultSite site, cudaStream_t stream) {
  const ProductArguments a{weight, x, y, stride, site};
  switch (weight.format) {
  case MatrixFormat::Q8_0:
    return launchLanes<Codes8>(a, stream);
  case MatrixFormat::Q4_0:
    return launchLanes<Codes4>(a, stream);
  case MatrixFormat::F16:
    return gemvHalf(weight, x, y, stride, site, stream);
  }
}

} // namespace orrery::gpu::ORRERY_GPU
