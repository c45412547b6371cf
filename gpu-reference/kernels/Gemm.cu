// A warp computes kTileRows rows of weights against kTiles * 8 rows of
// activations: an instruction gives the dot products of one block of k, which
// are scaled, rounded and added to 64-bit sums in registers. kSlices warps
// share the tile, each with every kSlices-th group of blocks, so that a prompt
// chunk fills the device too; the first adds up, in any order the same.
//
// Fragments come straight from the caches: within a block the order of k does
// not matter as long as weights and activations have the same, so a lane takes
// 8 successive elements of a row, not 4 and 4.
//
// The conversions set the speed, not the tensor cores: one F2I.S64 per block
// and result at 16 a cycle is 1024 operations a cycle and multiprocessor.
#include "gpu-reference/kernels/Gemm.h"

#include "gpu-reference/IntegerMma.cuh"
#include "gpu-reference/kernels/GemvHalf.h"
#include "gpu-reference/kernels/Product.cuh"

namespace orrery::gpu::ORRERY_GPU {

namespace {

constexpr int kTileRows = 16;
constexpr int kTileTokens = 8;
constexpr int kGroups = 2; ///< of kTileRows rows in a thread block
constexpr int kSlices = 4; ///< of k
constexpr int kThreads = kGroups * kSlices * 32;
constexpr int kBlockRows = kGroups * kTileRows;

/// The lane's 8 codes of a block: elements 8 * part .. 8 * part + 7.
struct Codes8Pair {
  using Codes = Codes8;
  __device__ static uint2 load(const uint8_t *row, int32_t block, int part) {
    const uint8_t *place = Codes8::place(row, block) +
                           part / 2 * (kBlockGroup * 16) + part % 2 * 8;
    return __ldg(reinterpret_cast<const uint2 *>(place));
  }
};
struct Codes4Pair {
  using Codes = Codes4;
  __device__ static uint2 load(const uint8_t *row, int32_t block, int part) {
    const uint8_t *place = Codes4::place(row, block) + part * 4;
    const int word = __ldg(reinterpret_cast<const int *>(place));
    return {uint32_t(Codes4::lowCodes(word)),
            uint32_t(Codes4::highCodes(word))};
  }
};

/// A lane's part of a tile: results c of IntegerMma.cuh.
template <class Pair, int kTiles> struct TileLane {
  int part, group;
  const uint8_t *codes[2];
  const uint16_t *dw[2];
  const int8_t *x[kTiles];    ///< of the column that B's part belongs to
  const float *dx[kTiles][2]; ///< of the columns that C's part belongs to
  unsigned long long sum[kTiles][4] = {};
  bool unsafe = false;

  /// Behind the last row or token, the last one again.
  __device__ TileLane(const ProductArguments &a, int32_t row, int32_t token,
                      int lane)
      : part(lane % 4), group(lane / 4) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int64_t at = min(row + group + 8 * i, a.weight.rows - 1);
      codes[i] = a.weight.codes + at * a.weight.rowBytes;
      dw[i] = a.weight.scales + at * a.weight.scaleStride;
    }
    const int32_t last = a.x.rows - 1;
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const int32_t first = token + tile * kTileTokens;
      const int64_t mine = min(first + group, last);
      x[tile] = a.x.codes + mine * a.x.paddedK() + part * 8;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int64_t column = min(first + 2 * part + i, last);
        dx[tile][i] = a.x.scales + column * a.x.blocks();
      }
    }
  }

  __device__ void addBlock(int32_t block, float limit) {
    const uint2 upper = Pair::load(codes[0], block, part);
    const uint2 lower = Pair::load(codes[1], block, part);
    const MmaA a = {{upper.x, lower.x, upper.y, lower.y}};
    const float d[2] = {halfValue(__ldg(dw[0] + block)),
                        halfValue(__ldg(dw[1] + block))};
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      const uint2 right = __ldg(reinterpret_cast<const uint2 *>(
          x[tile] + int64_t(block) * numerics::kBlock));
      const MmaB b = {{right.x, right.y}};
      MmaC c = {{kDotStart, kDotStart, kDotStart, kDotStart}};
      integerMma(c, a, b);
      const float scale[2] = {__ldg(dx[tile][0] + block),
                              __ldg(dx[tile][1] + block)};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        unsafe |= !(::fabsf(scale[i]) < limit);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float steps = dotSteps<Pair::Codes::kLog2Steps>(c.sum[i]);
        sum[tile][i] += static_cast<unsigned long long>(
            roundTerm(steps * (d[i / 2] * scale[i % 2])));
      }
    }
  }
};

/// Every result of the thread block again, one thread each, by the definition.
template <class Codes>
__device__ void storeChecked(const ProductArguments &a, int32_t row,
                             int32_t token, int tokens) {
  for (int i = int(threadIdx.x); i < kBlockRows * tokens; i += kThreads) {
    const int32_t r = row + i % kBlockRows;
    const int32_t t = token + i / kBlockRows;
    if (r < a.weight.rows && t < a.x.rows) {
      a.store(r, t, checkedBlocks<Codes, 1>(a, r, t, 0));
    }
  }
}

template <class Pair, int kTiles>
__global__ void __launch_bounds__(kThreads, 2)
    gemmCodes(const ProductArguments a) {
  ORRERY_SHARED(unsigned long long, others,
                [kSlices - 1][kGroups][kTiles * 4][32]);
  const int lane = int(threadIdx.x % 32);
  const int warp = int(threadIdx.x / 32);
  const int slice = warp / kGroups;
  const int rowGroup = warp % kGroups;
  const auto firstRow = int32_t(blockIdx.x) * kBlockRows;
  const auto firstToken = int32_t(blockIdx.y) * (kTiles * kTileTokens);
  const int32_t row = firstRow + rowGroup * kTileRows;

  TileLane<Pair, kTiles> work(a, row, firstToken, lane);
  const int32_t blocks = a.weight.blocks();
  for (int32_t first = slice * kBlockGroup; first < blocks;
       first += kSlices * kBlockGroup) {
    for (int32_t b = first; b < min(first + kBlockGroup, blocks); ++b) {
      work.addBlock(b, a.weight.activationLimit);
    }
  }

  if (slice > 0) {
#pragma unroll
    for (int i = 0; i < kTiles * 4; ++i) {
      others[slice - 1][rowGroup][i][lane] = work.sum[i / 4][i % 4];
    }
  }
  if (__syncthreads_or(work.unsafe)) {
    storeChecked<typename Pair::Codes>(a, firstRow, firstToken,
                                       kTiles * kTileTokens);
    return;
  }
  if (slice > 0) {
    return;
  }
#pragma unroll
  for (int i = 0; i < kTiles * 4; ++i) {
    unsigned long long sum = work.sum[i / 4][i % 4];
#pragma unroll
    for (int other = 0; other < kSlices - 1; ++other) {
      sum += others[other][rowGroup][i][lane];
    }
    const int32_t r = row + work.group + i % 4 / 2 * 8;
    const int32_t t = firstToken + i / 4 * kTileTokens + 2 * work.part + i % 2;
    if (r < a.weight.rows && t < a.x.rows) {
      a.store(r, t, numerics::readAccumulator(int64_t(sum)));
    }
  }
}

template <class Pair, int kTiles>
void launch(const ProductArguments &a, cudaStream_t stream) {
  constexpr int kTokens = kTiles * kTileTokens;
  const dim3 grid(unsigned((a.weight.rows + kBlockRows - 1) / kBlockRows),
                  unsigned((a.x.rows + kTokens - 1) / kTokens));
  ORRERY_LAUNCH((gemmCodes<Pair, kTiles>), grid, kThreads, 0, stream, a);
}

template <class Pair>
void launchTiles(const ProductArguments &a, cudaStream_t stream) {
  if (a.x.rows <= 8) {
    launch<Pair, 1>(a, stream);
  } else if (a.x.rows <= 16) {
    launch<Pair, 2>(a, stream);
  } else {
    launch<Pair, 4>(a, stream);
  }
}

} // namespace

void gemm(const MatrixView &weight, const ActivationView &x, float *y,
          int64_t stride, FaultSite site, cudaStream_t stream) {
  const ProductArguments a{weight, x, y, stride, site};
  switch (weight.format) {
  case MatrixFormat::Q8_0:
    return launchTiles<Codes8Pair>(a, stream);
  case MatrixFormat::Q4_0:
    return launchTiles<Codes4Pair>(a, stream);
  case MatrixFormat::F16:
    return gemvHalf(weight, x, y, stride, site, stream);
  }
}

} // namespace orrery::gpu::ORRERY_GPU
