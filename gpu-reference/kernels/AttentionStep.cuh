// What the three launches of attention share: arguments, scratch, which rows
// and positions a block of threads has. Not for callers: Attention.h is.
//
// A row is one query head of one token. The rows of a KV head, token by token,
// are taken kRows at a time, so that all of them use K and V loaded once: those
// of one sequence. A step's tokens are of one, or each of another.
#pragma once

#include "gpu-reference/Fault.h"
#include "gpu-reference/Numerics.cuh"
#include "gpu-reference/kernels/Attention.h"
#include "machine/numerics.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// Positions that a part may have: what shared memory holds the weights of.
inline constexpr int32_t kMaxSplitPositions = 512;

/// One slice of tokens. Scratch is over rows token * heads + head of the slice.
struct AttentionStep {
  const float *q;          ///< [tokens][heads * headDim], of the slice
  float *out;              ///< likewise
  const int32_t *position; ///< [tokens], of the slice
  KvCacheView cache;
  int32_t heads;
  int32_t firstToken; ///< of the slice in the call
  int32_t tokens;     ///< of the slice
  int32_t bucket;
  int32_t splitPositions;
  int32_t splits;
  int64_t *sums;   ///< [splits][rows], of exponentials
  int64_t *mixed;  ///< [splits][rows][headDim], of weighted values
  float *scores;   ///< [rows][bucket]
  float *greatest; ///< [rows][splits]
  FaultSite fault;

  __host__ __device__ int32_t group() const {
    return heads / cache.layout.kvHeads;
  }
  __host__ __device__ int32_t rows() const { return tokens * heads; }
  /// Rows of a KV head that are of one sequence.
  __device__ int32_t rowsOfSequence() const {
    return cache.batched() ? group() : tokens * group();
  }

  /// Positions that the slice's token `t` sees; more than the bucket is the
  /// caller's error, which the last launch reports.
  __device__ int32_t seenBy(int32_t t) const { return position[t] + 1; }
  __device__ int32_t visibleTo(int32_t t) const {
    const int32_t seen = seenBy(t);
    return seen < bucket ? seen : bucket;
  }
  /// Parts that have positions that `visible` reaches.
  __device__ int32_t partsOf(int32_t visible) const {
    return (visible + splitPositions - 1) / splitPositions;
  }
};

/// Rows and positions of a block of threads: grid [splits][kvHeads][row
/// groups].
template <int kRows> struct AttentionTile {
  int32_t kvHead;
  const int32_t *table; ///< pages of the sequence
  int32_t firstRow;     ///< among tokens * group rows of the KV head
  int32_t rows;         ///< 1 .. kRows
  int32_t begin;
  int32_t end; ///< behind the last position that a row sees, above begin if any

  __device__ explicit AttentionTile(const AttentionStep &step)
      : kvHead(int32_t(blockIdx.y)),
        begin(int32_t(blockIdx.x) * step.splitPositions) {
    const int32_t together = step.rowsOfSequence();
    const int32_t tiles = (together + kRows - 1) / kRows;
    const int32_t sequence = int32_t(blockIdx.z) / tiles;
    const int32_t before = int32_t(blockIdx.z) % tiles * kRows;
    table = step.cache.tables + int64_t(sequence) * step.cache.tableStride;
    firstRow = sequence * together + before;
    rows = together - before < kRows ? together - before : kRows;
    const int32_t visible = step.visibleTo(token(step, rows - 1));
    const int32_t behind = begin + step.splitPositions;
    end = visible < behind ? visible : behind;
  }

  /// Token of the slice of the tile's row `r`.
  __device__ int32_t token(const AttentionStep &step, int32_t r) const {
    return (firstRow + r) / step.group();
  }
  __device__ int32_t head(const AttentionStep &step, int32_t r) const {
    return kvHead * step.group() + (firstRow + r) % step.group();
  }
  /// Row of the scratch.
  __device__ int32_t scratchRow(const AttentionStep &step, int32_t r) const {
    return token(step, r) * step.heads + head(step, r);
  }
  /// The part of the page of `position` that the tile's head has.
  __device__ const uint8_t *page(const AttentionStep &step,
                                 int32_t position) const {
    const KvLayout &layout = step.cache.layout;
    return step.cache.pool +
           layout.headOffset(table[position / layout.pagePositions],
                             step.cache.layer, kvHead);
  }
};

/// Where a tile's rows are and what they see, in registers: for loops over
/// rows that are unrolled. A row that is not there sees nothing.
template <int kRows> struct TileRows {
  int32_t visible[kRows];
  int32_t row[kRows]; ///< of the scratch

  __device__ TileRows(const AttentionStep &step,
                      const AttentionTile<kRows> &tile) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const bool there = r < tile.rows;
      visible[r] = there ? step.visibleTo(tile.token(step, r)) : 0;
      row[r] = there ? tile.scratchRow(step, r) : 0;
    }
  }
};

/// Sixteen bytes loaded at once.
struct alignas(16) Words {
  uint32_t word[4];
};

__device__ inline Words loadWords(const void *place) {
  return *reinterpret_cast<const Words *>(place);
}

/// Sixteen codes of q4, from the eight bytes that hold them, in order.
__device__ inline Words codesOf(uint32_t low, uint32_t high) {
  using models::codesOfHalf;
  return {{codesOfHalf(low), codesOfHalf(low >> 4), codesOfHalf(high),
           codesOfHalf(high >> 4)}};
}

/// Dot product of 32 codes, a in shared memory, times `scale`, as
/// numerics::blockTerm rounds it.
__device__ inline int64_t codesTerm(const Words (&a)[2], const Words (&b)[2],
                                    float scale) {
  int dot = kDotStart;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const Words x = loadWords(&a[half]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      dot = __dp4a(int(x.word[i]), int(b[half].word[i]), dot);
    }
  }
  return roundTerm(dotSteps<numerics::kAccumulatorBits>(dot) * scale);
}

/// numerics::floatTerm.
__device__ inline int64_t stepsOf(float x) {
  return roundTerm(x * float(numerics::kAccumulatorScale));
}

/// Half `i` of eight.
__device__ inline float halfOf(const Words &halves, int i) {
  return halfValue(uint16_t(halves.word[i / 2] >> (16 * (i % 2))));
}

/// The f16 scale at `place`.
__device__ inline float loadScale(const uint8_t *place) {
  return halfValue(*reinterpret_cast<const uint16_t *>(place));
}

/// An exact sum that remembers an overflow over launches.
struct TermSum : CheckedSum {
  /// The sum, or what add() of another sum takes for an overflow.
  __device__ int64_t stored() const {
    return inRange ? sum : numerics::kTermOverflowLow;
  }
  /// NaN after an overflow.
  __device__ float read() const {
    return inRange && numerics::accumulatorInRange(sum)
               ? numerics::readAccumulator(sum)
               : numerics::bitsToFloat(0x7fc00000u);
  }
};

/// Grid and threads of the first two launches.
struct AttentionLaunch {
  dim3 grid;
  dim3 threads;
  cudaStream_t stream;
};

/// launch.operator()<format, rows>() for a cache's format and 1, 4 or 8 rows: a
/// kernel is compiled for each.
template <int kRows, class Launch>
void launchForFormat(models::KvFormat format, Launch launch) {
  switch (format) {
  case models::KvFormat::F16:
    return launch.template operator()<models::KvFormat::F16, kRows>();
  case models::KvFormat::Q8:
    return launch.template operator()<models::KvFormat::Q8, kRows>();
  case models::KvFormat::Q4:
    return launch.template operator()<models::KvFormat::Q4, kRows>();
  }
}
template <class Launch>
void launchFor(models::KvFormat format, int32_t rows, Launch launch) {
  switch (rows) {
  case 1:
    return launchForFormat<1>(format, launch);
  case 4:
    return launchForFormat<4>(format, launch);
  default:
    return launchForFormat<8>(format, launch);
  }
}

// Each file its launch; `rows` is how many a block takes: 1, 4 or 8.
void launchScores(const AttentionStep &step, int32_t rows,
                  const AttentionLaunch &launch);
void launchValues(const AttentionStep &step, int32_t rows,
                  const AttentionLaunch &launch);
void launchJoin(const AttentionStep &step, cudaStream_t stream);

} // namespace orrery::gpu::ORRERY_GPU
