// What the matrix drivers hand to their per-instruction-set kernels: one group
// of 16 weight rows against up to 4 activation rows over a stretch of K.
// Private to the kernels.

#ifndef ORRERY_MACHINE_KERNELS_GEMVCHUNK_H
#define ORRERY_MACHINE_KERNELS_GEMVCHUNK_H

#include "machine/kernels/PackedMatrix.h"
#include "machine/numerics.h"

namespace orrery::numerics {

inline constexpr int kChunkRows = 4;

/// f32 bits of 2^15: below it a term times 2^36 is below 2^51, where adding
/// 1.5 * 2^52 in f64 rounds it to an integer.
inline constexpr int32_t kFastTermBits = 0x47000000;

/// Results of one chunk: sums of rounded terms, and per lane the f32 bits of
/// the greatest term magnitude (NaN and infinity compare greatest).
struct ChunkSums {
  int rows = 0; ///< activation rows: 1, 2 or 4
  alignas(64) int64_t sum[kChunkRows][kGroupRows];
  alignas(64) int32_t worst[kChunkRows][kGroupRows];

  /// acc[i * stride + lane] += sum for lanes < `lanes`; where a term was too
  /// large, `redo(i, lane, accumulator)` adds the same terms by definition.
  template <class Redo>
  bool addTo(int64_t *acc, int64_t stride, int64_t lanes, Redo redo) const {
    bool inRange = true;
    for (int i = 0; i < rows; ++i) {
      if (lanes == kGroupRows && isFast(i)) {
        inRange &= addWhole(i, acc + i * stride);
        continue;
      }
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t &out = acc[i * stride + lane];
        inRange &= worst[i][lane] < kFastTermBits
                       ? accumulate(out, sum[i][lane])
                       : redo(i, lane, out);
      }
    }
    return inRange;
  }

private:
  bool isFast(int i) const {
    bool fast = true;
    for (int lane = 0; lane < kGroupRows; ++lane) {
      fast &= worst[i][lane] < kFastTermBits;
    }
    return fast;
  }
  /// `accumulate` without its branches: sums of fast terms, at most 2048 below
  /// 2^51, are no saturation values.
  bool addWhole(int i, int64_t *acc) const {
    int64_t wrapped = 0;
    for (int lane = 0; lane < kGroupRows; ++lane) {
      const int64_t term = sum[i][lane];
      const int64_t total = wrappingAdd(acc[lane], term);
      wrapped |= (acc[lane] ^ total) & (term ^ total);
      acc[lane] = total;
    }
    return wrapped >= 0;
  }
};

/// Pointers stand at the chunk's first block.
struct IntegerChunk : ChunkSums {
  PackedFormat format = PackedFormat::Q8;
  int block = 32;
  bool useVnni = false; ///< read on AVX-512 targets only
  int64_t blocks = 0;
  const uint8_t *codes = nullptr;
  const uint16_t *halfScales = nullptr;
  const float *scales = nullptr;
  const float *mins = nullptr;
  const int32_t *quads[kChunkRows] = {};
  const int32_t *pairs[kChunkRows] = {};
  const int32_t *xsum[kChunkRows] = {};
  const float *dx[kChunkRows] = {};

  int64_t terms() const { return mins != nullptr ? 2 * blocks : blocks; }
};

struct HalfChunk : ChunkSums {
  int64_t elements = 0;
  const uint16_t *values = nullptr;
  const float *x[kChunkRows] = {};
};

} // namespace orrery::numerics

#endif // ORRERY_MACHINE_KERNELS_GEMVCHUNK_H
