// One 8-bit tensor-core instruction: C [16][8] += A [16][32] * B [32][8], int8
// operands, int32 sums, exact. Its k is 32, so a product is a block of the
// numerics and its scales are applied to each result.
//
// A warp computes it together; every lane holds parts of all three, as PTX's
// mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 has them (PTX ISA, "Matrix
// Fragments for mma.m16n8k32"). With group = lane / 4 and part = lane % 4, a
// word is four int8 of successive k, the lowest in the lowest byte:
//   a[0] row group,     k 4 part ..      b[0] k 4 part ..,      column group
//   a[1] row group + 8, k 4 part ..      b[1] k 16 + 4 part .., column group
//   a[2] row group,     k 16 + 4 part ..
//   a[3] row group + 8, k 16 + 4 part ..
//   c[0], c[1] row group,     columns 2 part, 2 part + 1
//   c[2], c[3] row group + 8, columns 2 part, 2 part + 1
#pragma once

#include "gpu-reference/Cuda.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// A lane's part of A, B and C.
struct MmaA {
  uint32_t word[4];
};
struct MmaB {
  uint32_t word[2];
};
struct MmaC {
  int32_t sum[4];
};

#ifdef __CUDACC__

/// All lanes of the warp must call it together.
__device__ __forceinline__ void integerMma(MmaC &c, const MmaA &a,
                                           const MmaB &b) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+r"(c.sum[0]), "+r"(c.sum[1]), "+r"(c.sum[2]), "+r"(c.sum[3])
               : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]),
                 "r"(b.word[0]), "r"(b.word[1]));
}

#else

/// What the instruction does once all lanes have brought a (in[0..3]), b
/// (in[4..5]) and c (in[6..9]); out[0..3] is the new c.
inline void mmaLanes(WarpWords &lanes, uint32_t) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      // A's row is held by lanes of one group, B's column by those of another.
      const unsigned upper = i / 2;
      const unsigned column = lane % 4 * 2 + i % 2;
      uint32_t sum = lanes[lane].in[6 + i];
      for (unsigned part = 0; part < 4; ++part) {
        const LaneWords &a = lanes[lane / 4 * 4 + part];
        const LaneWords &b = lanes[column * 4 + part];
        sum = uint32_t(__dp4a(int(a.in[upper]), int(b.in[4]), int(sum)));
        sum = uint32_t(__dp4a(int(a.in[upper + 2]), int(b.in[5]), int(sum)));
      }
      lanes[lane].out[i] = sum;
    }
  }
}

/// All lanes of the warp must call it together.
inline void
integerMma(MmaC &c, const MmaA &a, const MmaB &b,
           std::source_location where = std::source_location::current()) {
  LaneWords &words = laneWords();
  for (int i = 0; i < 4; ++i) {
    words.in[size_t(i)] = a.word[i];
    words.in[size_t(6 + i)] = uint32_t(c.sum[i]);
  }
  words.in[4] = b.word[0];
  words.in[5] = b.word[1];
  meet("integerMma", ~0u, &mmaLanes, where);
  for (int i = 0; i < 4; ++i) {
    c.sum[i] = int32_t(words.out[size_t(i)]);
  }
}

#endif

} // namespace orrery::gpu::ORRERY_GPU
