// Second launch of attention: exponentials of a part's scores against the
// greatest of all parts, their sum, and the values they weight. First a warp
// takes 32 positions, which are one a8 block; then a thread takes an element of
// the head, whose values of 32 positions lie together.
#include "gpu-reference/kernels/AttentionStep.cuh"
#include "gpu-reference/kernels/WarpReduce.cuh"

namespace orrery::gpu::ORRERY_GPU {

using models::KvFormat;
using numerics::kBlock;

namespace {

constexpr int kMaxBlocks = kMaxSplitPositions / kBlock;

/// Weights of the part's positions in shared memory, as they meet values.
template <int kRows> struct WeightCodes {
  Words codes[kRows][kMaxBlocks][2];
  float scale[kRows][kMaxBlocks];
};
template <int kRows> struct WeightHalves {
  float value[kRows][kMaxSplitPositions]; ///< rounded to f16
};

/// What a tile's rows share besides.
template <int kRows> struct RowState {
  float greatest[kRows];
  unsigned long long sum[kRows];
  int overflow[kRows];
};

/// Weights p of 32 positions of row `r`, of which this thread has one: p is 0
/// where the row does not see it. `valueScale` is that of the position.
template <int kRows>
__device__ void put(WeightCodes<kRows> &weights, int32_t r, int32_t at, float p,
                    float valueScale) {
  const int32_t block = at / kBlock;
  const float a = p * valueScale;
  const float amax = warpFiniteAmax(a);
  const float inverse = amax > 0.0f ? 127.0f / amax : 0.0f;
  auto *codes = reinterpret_cast<int8_t *>(weights.codes[r][block]);
  codes[at % kBlock] =
      amax > 0.0f ? numerics::roundToCode(a * inverse) : int8_t(0);
  if (at % kBlock == 0) {
    weights.scale[r][block] = amax / 127.0f;
  }
}
template <int kRows>
__device__ void put(WeightHalves<kRows> &weights, int32_t r, int32_t at,
                    float p, float) {
  weights.value[r][at] = numerics::roundToHalf(p);
}

/// The greatest score of each row over all parts; sums at zero.
template <int kRows>
__device__ void start(const AttentionStep &step,
                      const AttentionTile<kRows> &tile,
                      RowState<kRows> &state) {
  const int32_t lane = int32_t(threadIdx.x) % 32;
  for (int32_t r = int32_t(threadIdx.x) / 32; r < tile.rows;
       r += int32_t(blockDim.x) / 32) {
    const int32_t parts = step.partsOf(step.visibleTo(tile.token(step, r)));
    const float *of =
        step.greatest + int64_t(tile.scratchRow(step, r)) * step.splits;
    float greatest = numerics::bitsToFloat(0xff800000u); // -inf
    for (int32_t s = lane; s < parts; s += 32) {
      greatest = fmaxf(greatest, of[s]);
    }
    greatest = warpMax(greatest);
    if (lane == 0) {
      state.greatest[r] = greatest;
      state.sum[r] = 0;
      state.overflow[r] = 0;
    }
  }
}

/// Adds each lane's sum to the row's. A lane has at most 16 exponentials, each
/// at most 1: less than 2^41, which goes in two words of a few bits of
/// headroom.
template <int kRows>
__device__ void addOverWarp(const TermSum &own, RowState<kRows> &state, int r) {
  constexpr int kLowBits = 20;
  constexpr uint32_t kOverflow = 1u << 26; // above 32 times the high word
  const auto low = uint32_t(own.sum) & ((1u << kLowBits) - 1);
  const uint32_t high = own.inRange ? uint32_t(own.sum >> kLowBits) : kOverflow;
  const uint32_t lows = warpSum(low);
  const uint32_t highs = warpSum(high);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&state.sum[r], ((unsigned long long)(highs) << kLowBits) + lows);
    if (highs >= kOverflow) {
      atomicOr(&state.overflow[r], 1);
    }
  }
}

/// Weights of all positions of the part, and their sums.
template <KvFormat F, int kRows, class Weights>
__device__ void
weigh(const AttentionStep &step, const AttentionTile<kRows> &tile,
      const TileRows<kRows> &rows, RowState<kRows> &state, Weights &weights) {
  const KvLayout &layout = step.cache.layout;
  TermSum own[kRows];
  // Whole warps, also over what lies behind the last position.
  for (int32_t at = int32_t(threadIdx.x); tile.begin + at - at % 32 < tile.end;
       at += int32_t(blockDim.x)) {
    const int32_t u = tile.begin + at;
    float valueScale = 0.0f;
    if (F != KvFormat::F16 && u < tile.end) {
      valueScale = loadScale(tile.page(step, u) +
                             layout.valueScaleOffset(u % layout.pagePositions));
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r < tile.rows) {
        const bool seen = u < rows.visible[r];
        float p = 0.0f;
        if (seen) {
          const float score =
              step.scores[int64_t(rows.row[r]) * step.bucket + u];
          p = numerics::expExact(score - state.greatest[r]);
          own[r].add(stepsOf(p));
        }
        // A scale behind what the row sees may be anything.
        put(weights, r, at, p, seen ? valueScale : 0.0f);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r < tile.rows) {
      addOverWarp(own[r], state, r);
    }
  }
}

template <KvFormat F>
__device__ void loadValues(const uint8_t *place, Words (&values)[2]) {
  if constexpr (F == KvFormat::Q8) {
    values[0] = loadWords(place);
    values[1] = loadWords(place + 16);
  } else {
    const Words packed = loadWords(place);
    values[0] = codesOf(packed.word[0], packed.word[1]);
    values[1] = codesOf(packed.word[2], packed.word[3]);
  }
}

/// Adds the 32 positions from `u`, whose values of one element are at `place`.
template <KvFormat F, int kRows>
__device__ void mix(const AttentionTile<kRows> &tile, const TileRows<kRows> &,
                    const WeightCodes<kRows> &weights, int32_t u,
                    const uint8_t *place, TermSum (&sums)[kRows]) {
  const int32_t block = (u - tile.begin) / kBlock;
  Words values[2];
  loadValues<F>(place, values);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r < tile.rows) {
      sums[r].add(
          codesTerm(weights.codes[r][block], values, weights.scale[r][block]));
    }
  }
}
template <KvFormat F, int kRows>
__device__ void mix(const AttentionTile<kRows> &tile,
                    const TileRows<kRows> &rows,
                    const WeightHalves<kRows> &weights, int32_t u,
                    const uint8_t *place, TermSum (&sums)[kRows]) {
  for (int32_t first = 0; first < kBlock && u + first < tile.end; first += 8) {
    const Words values = loadWords(place + first * int32_t(sizeof(uint16_t)));
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int32_t at = u + first + j;
      const float value = halfOf(values, j);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        // 0 times an infinity of a later token would be NaN.
        if (at < rows.visible[r]) {
          sums[r].add(stepsOf(weights.value[r][at - tile.begin] * value));
        }
      }
    }
  }
}

template <KvFormat F, int kRows, class Weights>
__global__ void valueKernel(AttentionStep step) {
  ORRERY_SHARED(Weights, weights, [1]);
  ORRERY_SHARED(RowState<kRows>, state, [1]);
  const KvLayout &layout = step.cache.layout;
  const AttentionTile<kRows> tile(step);
  if (tile.begin >= tile.end) {
    return;
  }
  start(step, tile, state[0]);
  __syncthreads();
  const TileRows<kRows> rows(step, tile);
  weigh<F>(step, tile, rows, state[0], weights[0]);
  __syncthreads();

  const int64_t first = int64_t(blockIdx.x) * step.rows();
  for (int32_t i = int32_t(threadIdx.x); i < layout.headDim;
       i += int32_t(blockDim.x)) {
    TermSum sums[kRows];
    for (int32_t u = tile.begin; u < tile.end; u += kBlock) {
      const int32_t block = u % layout.pagePositions / kBlock;
      mix<F>(tile, rows, weights[0], u,
             tile.page(step, u) + layout.valueOffset(block, i), sums);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r < tile.rows) {
        const int64_t row = first + rows.row[r];
        step.mixed[row * layout.headDim + i] = sums[r].stored();
      }
    }
  }
  for (int32_t r = int32_t(threadIdx.x); r < tile.rows;
       r += int32_t(blockDim.x)) {
    step.sums[first + tile.scratchRow(step, r)] =
        state[0].overflow[r] != 0 ? numerics::kTermOverflowLow
                                  : int64_t(state[0].sum[r]);
  }
}

template <KvFormat F, int kRows>
void launchRows(const AttentionStep &step, const AttentionLaunch &launch) {
  if constexpr (F == KvFormat::F16) {
    ORRERY_LAUNCH((valueKernel<F, kRows, WeightHalves<kRows>>), launch.grid,
                  launch.threads, 0, launch.stream, step);
  } else {
    ORRERY_LAUNCH((valueKernel<F, kRows, WeightCodes<kRows>>), launch.grid,
                  launch.threads, 0, launch.stream, step);
  }
}

} // namespace

void launchValues(const AttentionStep &step, int32_t rows,
                  const AttentionLaunch &launch) {
  launchFor(step.cache.layout.format, rows, [&]<KvFormat F, int kRows>() {
    launchRows<F, kRows>(step, launch);
  });
}

} // namespace orrery::gpu::ORRERY_GPU
