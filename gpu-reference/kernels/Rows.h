// Kernels that work on each row by itself: embedding, RMSNorm, quantization,
// rotary embedding, gate, residual sum, greedy token. Bits as
// dialects/llm/EvaluateRows.cpp. Not here: matrix products, attention.
//
// All functions put their work on `stream` and return; errors of a launch are
// in cudaGetLastError(). Pointers are to device memory. Where a result may be
// not finite, `site` says whom to report it as; the row is written all the
// same.
#pragma once

#include "gpu-reference/Activations.h"
#include "gpu-reference/Fault.h"
#include "gpu-reference/Matrix.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// out.values[t] = row ids[t] of `table` [vocab][out.k] (q8_0, q4_0 or f16), t
/// < out.rows. Every id must be in 0 .. vocab-1: check on the host.
void embed(const MatrixView &table, const int32_t *ids,
           const ActivationView &out, FaultSite site, cudaStream_t stream);

/// out[t] = (x[t] * 1/sqrt(mean of squares + eps)) * weight, in every form that
/// `out` has. x [out.rows][out.k] f32, weight [out.k] f32. x may be out.values.
void rmsNorm(const float *x, const float *weight, float eps,
             const ActivationView &out, FaultSite site, cudaStream_t stream);

/// The forms that `out` has of x [out.rows][out.k], as they enter a matrix
/// product. Nothing new can be wrong with such a value: x has been reported.
void quantize(const float *x, const ActivationView &out, cudaStream_t stream);

enum class RotaryPairs {
  Adjacent, ///< elements 2j and 2j + 1
  Halves    ///< elements j and j + ropeDim/2
};

struct RotaryShape {
  int32_t heads = 0;
  int32_t headDim = 0;
  int32_t ropeDim = 0; ///< even, at most headDim; later elements stay
  RotaryPairs pairs = RotaryPairs::Adjacent;
};

/// Turns the heads of x [rows][stride] f32 in place; row t uses row t of cos
/// and sin [rows][ropeDim/2] f32.
void rope(float *x, int64_t stride, int32_t rows, const RotaryShape &shape,
          const float *cos, const float *sin, FaultSite site,
          cudaStream_t stream);

/// out[t] = silu(gate[t]) * up[t] in every form that `out` has; gate and up
/// [out.rows][stride] f32, the first out.k of a row.
void gated(const float *gate, const float *up, int64_t stride,
           const ActivationView &out, FaultSite site, cudaStream_t stream);

/// out = a + b, each [rows][width] f32; out may be a or b.
void add(const float *a, const float *b, int32_t rows, int32_t width,
         float *out, FaultSite site, cudaStream_t stream);

/// ids[t] = index of the greatest of logits[t] [width], the lowest on ties (-0
/// ties +0); NaN never wins; -1 if there is nothing else. `keys` is scratch of
/// `rows` words.
void argmax(const float *logits, int32_t rows, int32_t width,
            unsigned long long *keys, int32_t *ids, cudaStream_t stream);

} // namespace orrery::gpu::ORRERY_GPU
