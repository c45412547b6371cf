// Matrix times activations into exact accumulators (rule 5). The SIMD kernels
// give the bits of the scalar definitions in numerics.h on every instruction
// set; `gemvScalar` and `gemvHalfScalar` are those definitions as loops.
//
// All functions add into `acc` [x.rows, accStride] int64 (m.rows used per row),
// so a reduction may be continued over tiles of K in any order. They return
// false if a term or a sum left +-2^27 (or an operand was NaN); then `acc`
// holds the sum modulo 2^64 of the saturated terms.

#ifndef ORRERY_MACHINE_KERNELS_GEMV_H
#define ORRERY_MACHINE_KERNELS_GEMV_H

#include "machine/kernels/Activations.h"
#include "machine/kernels/PackedMatrix.h"

namespace orrery::numerics {

/// f32 rows that enter a matrix unit in mode f16: values are f16-exact.
struct FloatView {
  int64_t rows = 0;
  int64_t k = 0;
  const float *values = nullptr; ///< [rows, stride]
  int64_t stride = 0;
};

/// Integer formats: acc[t][n] += sum over blocks of the block (and minimum)
/// terms; m.k == x.k.
[[nodiscard]] bool gemvExact(const PackedView &m, const A8View &x, int64_t *acc,
                             int64_t accStride);
[[nodiscard]] bool gemvScalar(const PackedView &m, const A8View &x,
                              int64_t *acc, int64_t accStride);

/// Half: acc[t][n] += sum over k of rint(f32(m[n][k] * x[t][k]) * 2^36).
[[nodiscard]] bool gemvHalf(const PackedView &m, const FloatView &x,
                            int64_t *acc, int64_t accStride);
[[nodiscard]] bool gemvHalfScalar(const PackedView &m, const FloatView &x,
                                  int64_t *acc, int64_t accStride);

/// One row of the integer definition over blocks [first, last): what gemvExact
/// falls back to where a term is too large for its f64 rounding.
[[nodiscard]] bool accumulateBlocks(const PackedView &m, const A8View &x,
                                    int64_t row, int64_t t, int64_t first,
                                    int64_t last, int64_t &acc);
/// Likewise for Half, over elements [first, last).
[[nodiscard]] bool accumulateHalves(const PackedView &m, const FloatView &x,
                                    int64_t row, int64_t t, int64_t first,
                                    int64_t last, int64_t &acc);

/// Whether AVX-512 machines may use VNNI (default: yes, where present). For
/// tests of the path taken without it; the bits do not change.
void allowVnni(bool allow);

/// y[i] = readAccumulator(acc[i]); false if one is a saturation value.
[[nodiscard]] bool readAccumulators(const int64_t *acc, int64_t n, float *y);

} // namespace orrery::numerics

#endif // ORRERY_MACHINE_KERNELS_GEMV_H
