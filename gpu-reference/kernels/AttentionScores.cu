// First launch of attention: scores of a part's positions, and the greatest of
// them. A thread takes a position and goes over the rows with its keys in
// registers.
#include "gpu-reference/kernels/AttentionStep.cuh"
#include "gpu-reference/kernels/WarpReduce.cuh"

namespace orrery::gpu::ORRERY_GPU {

using models::KvFormat;
using numerics::kBlock;

namespace {

constexpr int kMaxWarps = 8;
constexpr int kMaxBlocks = kMaxHeadDim / kBlock;

/// Queries of the tile in shared memory, as they meet keys.
template <int kRows> struct QueryCodes {
  Words codes[kRows][kMaxBlocks][2];
  float scale[kRows][kMaxBlocks];
};
template <int kRows> struct QueryHalves {
  float value[kRows][kMaxHeadDim]; ///< rounded to f16
};

/// a8 along a head (quantizeA8Block), a warp a block of 32.
template <int kRows>
__device__ void stage(const AttentionStep &step,
                      const AttentionTile<kRows> &tile,
                      QueryCodes<kRows> &queries) {
  const int32_t headDim = step.cache.layout.headDim;
  const int32_t blocks = (headDim + kBlock - 1) / kBlock;
  const int32_t lane = int32_t(threadIdx.x) % 32;
  for (int32_t task = int32_t(threadIdx.x) / 32; task < tile.rows * blocks;
       task += int32_t(blockDim.x) / 32) {
    const int32_t r = task / blocks;
    const int32_t block = task % blocks;
    const int32_t i = block * kBlock + lane;
    const float *row = step.q + int64_t(tile.scratchRow(step, r)) * headDim;
    const float x = i < headDim ? row[i] : 0.0f;
    const float amax = warpFiniteAmax(x);
    const float inverse = amax > 0.0f ? 127.0f / amax : 0.0f;
    auto *codes = reinterpret_cast<int8_t *>(queries.codes[r][block]);
    codes[lane] = amax > 0.0f ? numerics::roundToCode(x * inverse) : int8_t(0);
    if (lane == 0) {
      queries.scale[r][block] = amax / 127.0f;
    }
  }
}

template <int kRows>
__device__ void stage(const AttentionStep &step,
                      const AttentionTile<kRows> &tile,
                      QueryHalves<kRows> &queries) {
  const int32_t headDim = step.cache.layout.headDim;
  for (int32_t r = 0; r < tile.rows; ++r) {
    const float *row = step.q + int64_t(tile.scratchRow(step, r)) * headDim;
    for (int32_t i = int32_t(threadIdx.x); i < headDim;
         i += int32_t(blockDim.x)) {
      queries.value[r][i] = numerics::roundToHalf(row[i]);
    }
  }
}

/// Codes of 32 elements of a key row; what lies behind the row is zeros.
template <KvFormat F>
__device__ void loadKeys(const uint8_t *row, int32_t rowBytes, int32_t block,
                         Words (&keys)[2]) {
  if constexpr (F == KvFormat::Q8) {
    const uint8_t *place = row + block * kBlock;
    keys[0] = loadWords(place);
    const bool second = (block * kBlock) + 16 < rowBytes;
    keys[1] = second ? loadWords(place + 16) : Words{};
  } else {
    const Words packed = loadWords(row + block * (kBlock / 2));
    keys[0] = codesOf(packed.word[0], packed.word[1]);
    keys[1] = codesOf(packed.word[2], packed.word[3]);
  }
}

template <KvFormat F, int kRows>
__device__ void dotKeys(const KvLayout &layout, const uint8_t *row,
                        int32_t rows, const QueryCodes<kRows> &queries,
                        TermSum (&dots)[kRows]) {
  const int32_t blocks = (layout.headDim + kBlock - 1) / kBlock;
  for (int32_t block = 0; block < blocks; ++block) {
    Words keys[2];
    loadKeys<F>(row, layout.keyRowBytes(), block, keys);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r < rows) {
        dots[r].add(
            codesTerm(queries.codes[r][block], keys, queries.scale[r][block]));
      }
    }
  }
}

template <KvFormat F, int kRows>
__device__ void dotKeys(const KvLayout &layout, const uint8_t *row,
                        int32_t rows, const QueryHalves<kRows> &queries,
                        TermSum (&dots)[kRows]) {
  for (int32_t first = 0; first < layout.headDim; first += 8) {
    const Words keys = loadWords(row + first * int32_t(sizeof(uint16_t)));
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (first + i < layout.headDim) {
        const float key = halfOf(keys, i);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          if (r < rows) {
            dots[r].add(stepsOf(queries.value[r][first + i] * key));
          }
        }
      }
    }
  }
}

/// The greatest of each row over the block of threads, to scratch.
template <int kRows>
__device__ void
storeGreatest(const AttentionStep &step, const AttentionTile<kRows> &tile,
              const float (&own)[kRows], float (&shared)[kMaxWarps][kRows]) {
  const int32_t warp = int32_t(threadIdx.x) / 32;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r < tile.rows) {
      const float greatest = warpMax(own[r]);
      if (threadIdx.x % 32 == 0) {
        shared[warp][r] = greatest;
      }
    }
  }
  __syncthreads();
  for (int32_t r = int32_t(threadIdx.x); r < tile.rows;
       r += int32_t(blockDim.x)) {
    float greatest = shared[0][r];
    for (int32_t w = 1; w < int32_t(blockDim.x) / 32; ++w) {
      greatest = fmaxf(greatest, shared[w][r]);
    }
    step.greatest[int64_t(tile.scratchRow(step, r)) * step.splits +
                  int32_t(blockIdx.x)] = greatest;
  }
}

template <KvFormat F, int kRows, class Queries>
__global__ void scoreKernel(AttentionStep step) {
  ORRERY_SHARED(Queries, queries, [1]);
  ORRERY_SHARED(float, greatest, [kMaxWarps][kRows]);
  const KvLayout &layout = step.cache.layout;
  const AttentionTile<kRows> tile(step);
  if (tile.begin >= tile.end) {
    return;
  }
  stage(step, tile, queries[0]);
  __syncthreads();

  const TileRows<kRows> rows(step, tile);
  const float scale = 1.0f / ::sqrtf(float(layout.headDim));
  float own[kRows];
  for (int r = 0; r < kRows; ++r) {
    own[r] = numerics::bitsToFloat(0xff800000u); // -inf
  }
  for (int32_t u = tile.begin + int32_t(threadIdx.x); u < tile.end;
       u += int32_t(blockDim.x)) {
    const int32_t inPage = u % layout.pagePositions;
    const uint8_t *part = tile.page(step, u);
    TermSum dots[kRows];
    dotKeys<F>(layout, part + layout.keyOffset(inPage), tile.rows, queries[0],
               dots);
    const float keyScale = layout.hasScales()
                               ? loadScale(part + layout.keyScaleOffset(inPage))
                               : 1.0f;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (u < rows.visible[r]) {
        const float score = (dots[r].read() * keyScale) * scale;
        step.scores[int64_t(rows.row[r]) * step.bucket + u] = score;
        own[r] = fmaxf(own[r], score); // passes NaN by, which the sum reports
      }
    }
  }
  storeGreatest(step, tile, own, greatest);
}

template <KvFormat F, int kRows>
void launchRows(const AttentionStep &step, const AttentionLaunch &launch) {
  if constexpr (F == KvFormat::F16) {
    ORRERY_LAUNCH((scoreKernel<F, kRows, QueryHalves<kRows>>), launch.grid,
                  launch.threads, 0, launch.stream, step);
  } else {
    ORRERY_LAUNCH((scoreKernel<F, kRows, QueryCodes<kRows>>), launch.grid,
                  launch.threads, 0, launch.stream, step);
  }
}

} // namespace

void launchScores(const AttentionStep &step, int32_t rows,
                  const AttentionLaunch &launch) {
  launchFor(step.cache.layout.format, rows, [&]<KvFormat F, int kRows>() {
    launchRows<F, kRows>(step, launch);
  });
}

} // namespace orrery::gpu::ORRERY_GPU
