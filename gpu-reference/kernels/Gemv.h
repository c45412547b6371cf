// Matrix times few activation rows (decode): memory-bound, every weight is read
// once. Bits as machine/kernels/Gemv.h. Not here: prompt chunks (Gemm.h).
#pragma once

#include "gpu-reference/Activations.h"
#include "gpu-reference/Fault.h"
#include "gpu-reference/Matrix.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// Activation rows that one call takes at most.
inline constexpr int32_t kGemvRows = 8;

/// y[t * stride + n] = readout of the exact product of activation row t with
/// weight row n, for t < x.rows (1 .. kGemvRows) and n < weight.rows; x.k ==
/// weight.k. Reads x.codes, x.scales and x.large, for F16 weights x.halves.
/// Where a term or sum leaves +-2^27 (or an operand is not finite), y is NaN
/// and `site` reports row t, element n. Returns when the work is on `stream`;
/// errors of the launch are in cudaGetLastError().
void gemv(const MatrixView &weight, const ActivationView &x, float *y,
          int64_t stride, FaultSite site, cudaStream_t stream);

} // namespace orrery::gpu::ORRERY_GPU
