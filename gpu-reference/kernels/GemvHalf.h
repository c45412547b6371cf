// f16 weights times activation rows, few or many: every product is a term of
// its own, so rounding terms dominates, not memory.
#pragma once

#include "gpu-reference/Activations.h"
#include "gpu-reference/Fault.h"
#include "gpu-reference/Matrix.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// As gemv, for F16 weights and any number of activation rows.
void gemvHalf(const MatrixView &weight, const ActivationView &x, float *y,
              int64_t stride, FaultSite site, cudaStream_t stream);

} // namespace orrery::gpu::ORRERY_GPU
