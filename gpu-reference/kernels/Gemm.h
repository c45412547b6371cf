// Matrix times many activation rows (prompt chunks): 8-bit tensor cores for
// integer weights, where k = 32 of one instruction is a block. Bits as Gemv.h.
#pragma once

#include "gpu-reference/Activations.h"
#include "gpu-reference/Fault.h"
#include "gpu-reference/Matrix.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// As gemv, for any number of activation rows; faster from about 9 on.
void gemm(const MatrixView &weight, const ActivationView &x, float *y,
          int64_t stride, FaultSite site, cudaStream_t stream);

} // namespace orrery::gpu::ORRERY_GPU
