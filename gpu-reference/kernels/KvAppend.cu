// A block of threads takes one KV head and a sequence's new positions in one
// block of 32 positions: a warp quantizes a row at a time, then each thread
// writes its elements of V for all these positions. So no two threads write one
// word, and q4's halves of a byte need no atomics.
#include "gpu-reference/kernels/KvAppend.h"

#include "gpu-reference/kernels/WarpReduce.cuh"
#include "machine/numerics.h"

namespace orrery::gpu::ORRERY_GPU {

using models::KvFormat;
using numerics::kBlock;

namespace {

constexpr int kMaxWarps = 4;
/// Elements of a row that one lane packs: eight q4 codes are a word.
constexpr int kGroup = 8;

struct AppendArguments {
  const float *k;
  const float *v;
  int32_t tokens; ///< of a sequence
  const int32_t *position;
  KvCacheView cache;
};

/// The scale of a row, and its codes, as quantizeKvRow and quantizeKvRow4.
struct RowScale {
  uint16_t bits; ///< f16; NaN when the row does not fit
  float value;   ///< of the bits before that
  float limit;   ///< greatest code

  __device__ static RowScale of(float amax, float limit) {
    RowScale scale;
    scale.bits = numerics::floatToHalf(amax / limit);
    scale.value = numerics::halfToFloat(scale.bits);
    scale.limit = limit;
    if (!numerics::isFinite(scale.value)) {
      scale.bits = 0x7e00u;
    }
    return scale;
  }

  /// Zeros under a scale that is 0 or not finite.
  __device__ int32_t code(float x) const {
    if (!(value > 0.0f) || !numerics::isFinite(value)) {
      return 0;
    }
    const float r = ::rintf(x / value);
    return int32_t(r < -limit ? -limit : r > limit ? limit : r);
  }
};

/// An element's bits in the cache, and their place in a word.
template <KvFormat F> struct Packing {
  static constexpr int kBits = F == KvFormat::F16  ? 16
                               : F == KvFormat::Q8 ? 8
                                                   : 4;
  static constexpr int kPerWord = 32 / kBits;
  static constexpr uint32_t kMask = (1u << kBits) - 1;

  __device__ static uint32_t pack(float x, const RowScale &scale) {
    if constexpr (F == KvFormat::F16) {
      return numerics::floatToHalf(x);
    } else {
      return uint32_t(scale.code(x) + (F == KvFormat::Q4 ? 8 : 0)) & kMask;
    }
  }
  /// Of element `i` of a word.
  __device__ static int shift(int i) {
    return F == KvFormat::Q4 ? 8 * (i % 4) + 4 * (i / 4) : i * kBits;
  }
};

/// Scale of x [n] over a warp.
template <KvFormat F>
__device__ RowScale scaleOfRow(const float *x, int32_t n) {
  if constexpr (F == KvFormat::F16) {
    return RowScale{};
  } else {
    uint32_t most = 0;
    for (int32_t i = int32_t(threadIdx.x % 32); i < n; i += 32) {
      const uint32_t magnitude = numerics::floatToBits(x[i]) & 0x7fffffffu;
      most = magnitude > most ? magnitude : most;
    }
    return RowScale::of(warpFiniteAmax(numerics::bitsToFloat(most)),
                        F == KvFormat::Q8 ? 127.0f : 7.0f);
  }
}

/// x [n] to a cached key row; elements past n up to a multiple of 8 are zeros.
template <KvFormat F>
__device__ void storeKeyRow(const float *x, int32_t n, const RowScale &scale,
                            uint8_t *row) {
  using P = Packing<F>;
  auto *words = reinterpret_cast<uint32_t *>(row);
  const int32_t count = (n + kGroup - 1) / kGroup * (kGroup / P::kPerWord);
  for (int32_t w = int32_t(threadIdx.x % 32); w < count; w += 32) {
    uint32_t word = 0;
    for (int j = 0; j < P::kPerWord; ++j) {
      const int32_t i = w * P::kPerWord + j;
      word |= P::pack(i < n ? x[i] : 0.0f, scale) << P::shift(j);
    }
    words[w] = word;
  }
}

/// Element `i` of the V rows of positions first .. last-1 of a block of 32 into
/// that element's words; `v` is row `first`, at this element.
template <KvFormat F>
__device__ void storeValues(const float *v, int64_t stride, int32_t first,
                            int32_t last, const RowScale *scales,
                            uint32_t *words) {
  using P = Packing<F>;
  for (int32_t w = first / P::kPerWord; w * P::kPerWord < last; ++w) {
    const bool whole =
        w * P::kPerWord >= first && (w + 1) * P::kPerWord <= last;
    uint32_t word = whole ? 0 : words[w];
    for (int j = 0; j < P::kPerWord; ++j) {
      const int32_t at = w * P::kPerWord + j;
      if (at >= first && at < last) {
        const uint32_t bits = P::pack(v[(at - first) * stride], scales[at]);
        word = (word & ~(P::kMask << P::shift(j))) | (bits << P::shift(j));
      }
    }
    words[w] = word;
  }
}

template <KvFormat F> __global__ void appendKernel(AppendArguments a) {
  ORRERY_SHARED(RowScale, valueScales, [kBlock]);
  const KvLayout &layout = a.cache.layout;
  const int32_t head = int32_t(blockIdx.x);
  const int32_t sequence = int32_t(blockIdx.z); // of a batch: its row
  const int32_t start = a.position[sequence];
  const int32_t block = start / kBlock + int32_t(blockIdx.y);
  const int32_t blockStart = block * kBlock;
  // Positions of the block that are new, counted in it.
  const int32_t end = start + a.tokens - blockStart;
  const int32_t first = start > blockStart ? start - blockStart : 0;
  const int32_t last = end < kBlock ? end : kBlock;
  if (first >= last) {
    return;
  }
  const int64_t stride = int64_t(layout.kvHeads) * layout.headDim;
  // Of position `first` of the block.
  const int64_t source =
      (sequence + blockStart + first - start) * stride + head * layout.headDim;
  const int32_t inPage = blockStart % layout.pagePositions;
  const int32_t *table =
      a.cache.tables + int64_t(sequence) * a.cache.tableStride;
  uint8_t *part =
      a.cache.pool + layout.headOffset(table[blockStart / layout.pagePositions],
                                       a.cache.layer, head);

  // A task is a row of K (even) or of V.
  const int32_t warps = int32_t(blockDim.x) / 32;
  const bool leader = threadIdx.x % 32 == 0;
  for (int32_t task = int32_t(threadIdx.x) / 32; task < 2 * (last - first);
       task += warps) {
    const int32_t row = task / 2;
    const int32_t at = inPage + first + row;
    const bool key = task % 2 == 0;
    const float *x = (key ? a.k : a.v) + source + row * stride;
    const RowScale scale = scaleOfRow<F>(x, layout.headDim);
    if (key) {
      storeKeyRow<F>(x, layout.headDim, scale, part + layout.keyOffset(at));
    } else if (leader) {
      valueScales[first + row] = scale;
    }
    if (leader && layout.hasScales()) {
      const int64_t offset =
          key ? layout.keyScaleOffset(at) : layout.valueScaleOffset(at);
      *reinterpret_cast<uint16_t *>(part + offset) = scale.bits;
    }
  }
  __syncthreads();
  for (int32_t i = int32_t(threadIdx.x); i < layout.headDim;
       i += int32_t(blockDim.x)) {
    storeValues<F>(a.v + source + i, stride, first, last, valueScales,
                   reinterpret_cast<uint32_t *>(
                       part + layout.valueOffset(inPage / kBlock, i)));
  }
}

} // namespace

void kvAppend(const float *k, const float *v, int32_t rows,
              const int32_t *position, const KvCacheView &cache,
              cudaStream_t stream) {
  const int32_t sequences = cache.batched() ? rows : 1;
  const int32_t tokens = cache.batched() ? 1 : rows;
  const AppendArguments arguments{k, v, tokens, position, cache};
  // Blocks of 32 that `tokens` positions can touch wherever they start.
  const int32_t blocks = (tokens + kBlock - 2) / kBlock + 1;
  const dim3 grid(unsigned(cache.layout.kvHeads), unsigned(blocks),
                  unsigned(sequences));
  const dim3 threads(unsigned(2 * tokens < kMaxWarps ? 2 * tokens : kMaxWarps) *
                     32);
  switch (cache.layout.format) {
  case KvFormat::F16:
    ORRERY_LAUNCH(appendKernel<KvFormat::F16>, grid, threads, 0, stream,
                  arguments);
    break;
  case KvFormat::Q8:
    ORRERY_LAUNCH(appendKernel<KvFormat::Q8>, grid, threads, 0, stream,
                  arguments);
    break;
  case KvFormat::Q4:
    ORRERY_LAUNCH(appendKernel<KvFormat::Q4>, grid, threads, 0, stream,
                  arguments);
    break;
  }
}

} // namespace orrery::gpu::ORRERY_GPU
