// What every source of the GPU reference includes instead of <cuda_runtime.h>.
//
// A `.cu` file is compiled twice: by nvcc for the device, and as plain C++ over
// emulation/. Both may be in one binary, so everything lives in
// `namespace orrery::gpu::ORRERY_GPU`, which is `device` or `emulated`; inside
// it CUDA's names are written as always (`cudaMalloc`, `threadIdx`). What CUDA
// writes in its own syntax goes through the macros below.
#pragma once

#ifdef __CUDACC__

#include <cuda_runtime.h>

#define ORRERY_GPU device

/// Launches `kernel` (in brackets if it has template arguments) on `stream`.
/// What went wrong is in cudaGetLastError().
#define ORRERY_LAUNCH(kernel, grid, block, sharedBytes, stream, ...)           \
  kernel<<<(grid), (block), (sharedBytes), (stream)>>>(__VA_ARGS__)

/// `T *name`: the dynamic shared memory of the block, aligned to 16 bytes.
#define ORRERY_DYNAMIC_SHARED(T, name)                                         \
  extern __shared__ __align__(16) unsigned char orreryDynamicShared[];         \
  T *name = reinterpret_cast<T *>(orreryDynamicShared)

/// A static shared array of the block: ORRERY_SHARED(float, tile, [16][17]).
/// (A plain `__shared__` does not compile in the emulation.)
#define ORRERY_SHARED(T, name, extents) __shared__ __align__(16) T name extents

namespace orrery::gpu::device {
/// For names in messages, and for tests that know what a backend can do.
inline constexpr bool kEmulated = false;
} // namespace orrery::gpu::device

#else

#define ORRERY_GPU emulated

#include "gpu-reference/emulation/CudaOnHost.h"

namespace orrery::gpu::emulated {
inline constexpr bool kEmulated = true;
} // namespace orrery::gpu::emulated

#endif
