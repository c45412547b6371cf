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
// (IADD3, IADD3.X), into which ptxas makes two additions. Summing over lanes
// costs no more than in f32. The scales of activations are looked at only where
// the word beside them does not say that they are below kLargeScale, and in
// every product with a matrix that not all such scales are small enough for
// (activationLimit / 32 < kLargeScale).
#include "gpu-reference/kernels/Gemv.h"

#include "gpu-reference/kernels/CodesLane.cuh"
#include "gpu-reference/kernels/GemvHalf.h"

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

struct GemvArguments : ProductArguments {
  /// While activation scales are below this, sums fit in kNarrowBits.
  float limit;
  /// The scales must be looked at if *large | look is not 0.
  const uint32_t *large;
  uint32_t look;
};

/// Whether an activation scale that this thread looks at is not below the
/// limit; the threads of a block look at all of them together.
__device__ bool findUnsafe(const GemvArguments &a) {
  bool found = false;
  const int32_t count = a.x.rows * a.x.blocks();
#pragma unroll 1
  for (auto i = int32_t(threadIdx.x); i < count; i += kWarps * 32) {
    found |= !(::fabsf(__ldg(a.x.scales + i)) < a.limit);
  }
  return found;
}

/// The rows and tokens of a thread once more, by the definition.
template <class Codes, int kLanes, int kRows>
__device__ void storeChecked(const GemvArguments &a, int32_t row,
                             int32_t lane) {
  for (int32_t i = 0; i < kRows * a.x.rows; ++i) {
    const int32_t at = row + i % kRows;
    const CheckedSum sum = combine<kLanes>(checkedBlocks<Codes, kLanes>(
        a, min(at, a.weight.rows - 1), i / kRows, lane));
    if (lane == 0 && at < a.weight.rows) {
      a.store(at, i / kRows, sum);
    }
  }
}

template <class Codes, class Sum, int kLanes, int kTokens, int kRows,
          int kUnroll>
__global__ void __launch_bounds__(kWarps * 32, kResident<kTokens>)
    gemvCodes(const GemvArguments a) {
  const uint32_t look = Sum::kHasLimit ? __ldg(a.large) | a.look : 0;
  const auto thread = int32_t(blockIdx.x * (kWarps * 32) + threadIdx.x);
  const int32_t lane = thread % kLanes;
  const int32_t row = thread / kLanes * kRows;
  CodesLane<Codes, Sum, kLanes, kTokens, kRows, kUnroll> work(a, row, lane);
  work.addAll();

  if constexpr (Sum::kHasLimit) {
    if (look != 0 && __syncthreads_or(findUnsafe(a))) {
      return storeChecked<Codes, kLanes, kRows>(a, row, lane);
    }
  }
#pragma unroll
  for (int t = 0; t < kTokens; ++t) {
#pragma unroll
    for (int r = 0; r < kRows && (t == 0 || t < a.x.rows); ++r) {
      work.sum[r][t].template combineNarrow<kLanes>();
      if (lane == 0 && row + r < a.weight.rows) {
        a.store(row + r, t, work.sum[r][t].read());
      }
    }
  }
}

template <class Codes, int kLanes, int kTokens, int kRows, int kUnroll>
void launch(const GemvArguments &a, cudaStream_t stream) {
  constexpr int kBlockRows = kWarps * 32 / kLanes * kRows;
  const auto blocks = unsigned((a.weight.rows + kBlockRows - 1) / kBlockRows);
  ORRERY_LAUNCH((gemvCodes<Codes, ExactSum, kLanes, kTokens, kRows, kUnroll>),
                blocks, kWarps * 32, 0, stream, a);
}

/// More activation rows mean more loads from the L1 per weight; two weight rows
/// a lane halve them again.
template <class Codes, int kLanes>
void launchTokens(const GemvArguments &a, cudaStream_t stream) {
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
void launchLanes(const GemvArguments &a, cudaStream_t stream) {
  constexpr int32_t kShort = 48;
  if (a.weight.blocks() <= kShort) {
    launchTokens<Codes, 8>(a, stream);
  } else {
    launchTokens<Codes, 32>(a, stream);
  }
}

#ifdef ORRERY_INSPECT_KERNELS
// The same kernels over a plain sum.
#define ORRERY_PLAIN(Codes, tokens, rows, unroll)                              \
  template __global__ void                                                     \
  gemvCodes<Codes, PlainSum, 32, tokens, rows, unroll>(const GemvArguments)
ORRERY_PLAIN(Codes8, 1, 1, 4);
ORRERY_PLAIN(Codes8, 2, 1, 4);
ORRERY_PLAIN(Codes8, 4, 2, 2);
ORRERY_PLAIN(Codes8, 8, 2, 2);
ORRERY_PLAIN(Codes4, 1, 1, 4);
ORRERY_PLAIN(Codes4, 2, 1, 4);
ORRERY_PLAIN(Codes4, 4, 2, 2);
ORRERY_PLAIN(Codes4, 8, 2, 2);
#undef ORRERY_PLAIN
#endif

} // namespace

void gemv(const MatrixView &weight, const ActivationView &x, float *y,
          int64_t stride, FaultSite site, cudaStream_t stream) {
  // Sums below 2^26 / 32 = 2^21, that is 2^57 steps; the limit itself leaves
  // room for the rounding of terms, a 2^20th.
  const float limit = weight.activationLimit / 32;
  static_assert(kNarrowBits == 58);
  const bool known = x.large != nullptr && limit >= kLargeScale;
  const GemvArguments a{{weight, x, y, stride, site},
                        limit,
                        known ? x.large
                              : reinterpret_cast<const uint32_t *>(x.scales),
                        known ? 0u : 1u};
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
