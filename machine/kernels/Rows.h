// Elementwise and reducing operations on one row of f32, bit-equal to the
// scalar definitions in numerics.h on every instruction set. `y` may be `x`.

#ifndef ORRERY_MACHINE_KERNELS_ROWS_H
#define ORRERY_MACHINE_KERNELS_ROWS_H

#include "machine/numerics.h"

namespace orrery::numerics {

/// Which elements rotate together: (2i, 2i+1) or (i, i + rotaryDim/2).
enum class RopePairs : uint8_t { Interleaved, Halves };

/// y = exp(x - shift).
void expRow(const float *x, float shift, float *y, int64_t n);

/// y = silu(g) * u.
void siluMulRow(const float *g, const float *u, float *y, int64_t n);

/// y = gelu(g) * u, gelu in its tanh form.
void geluMulRow(const float *g, const float *u, float *y, int64_t n);

/// Rule 4: codes [n rounded up to 32], scales [ceil(n/32)]. False if an element
/// is NaN or infinite (that block: zeros, NaN scale).
[[nodiscard]] bool quantizeA8Row(const float *x, int64_t n, int8_t *codes,
                                 float *scales);

/// Greatest element; NaN if there is one, -inf for n = 0, and zero is +0.
float maxRow(const float *x, int64_t n);

/// acc += sum of floatTerm(x); false on overflow or NaN.
[[nodiscard]] bool sumExact(const float *x, int64_t n, int64_t &acc);

/// Wide sums of x and of f32(x * x).
WideAccumulator sumWide(const float *x, int64_t n);
WideAccumulator sumSquares(const float *x, int64_t n);

/// y = f16 round trip of x (mode f16 of rule 4); false if y is not finite.
[[nodiscard]] bool roundRowToHalf(const float *x, float *y, int64_t n);

/// Rule 7: y = (x * r) * w. False if the result is not finite.
[[nodiscard]] bool rmsNormRow(const float *x, const float *w, float *y,
                              int64_t n, float eps);

/// LayerNorm: c = x - mean, y = (c * r) * w + b; b may be null.
[[nodiscard]] bool layerNormRow(const float *x, const float *w, const float *b,
                                float *y, int64_t n, float eps);

/// Rule 9 without the division: p = exp(s - max), z += exact sum of p. False if
/// a score is NaN, none is finite, or z overflows.
[[nodiscard]] bool softmaxRow(const float *s, float *p, int64_t n, int64_t &z);

/// Rotates the first rotaryDim elements of one head in place; cos, sin
/// [rotaryDim/2] are the table row of its position.
void ropeRow(float *x, int rotaryDim, const float *cos, const float *sin,
             RopePairs pairs);

} // namespace orrery::numerics

#endif // ORRERY_MACHINE_KERNELS_ROWS_H
