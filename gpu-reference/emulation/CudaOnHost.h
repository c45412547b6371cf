// CUDA as plain C++: what the kernels of the reference use of the language, the
// intrinsics and the runtime, with CUDA's names, in a namespace of its own.
//
// The threads of a block are fibers on one OS thread and blocks run one after
// another, so a kernel that waits for another block never ends; everything else
// that needs all threads (barriers, warp operations) is checked, not assumed.
// Order and contents of memory that nobody wrote are chosen by Settings.h. Not
// here: speed, memory ordering between threads, cooperative groups.
#pragma once

#include "gpu-reference/emulation/Atomics.h"
#include "gpu-reference/emulation/Intrinsics.h"
#include "gpu-reference/emulation/Launch.h"
#include "gpu-reference/emulation/Runtime.h"
#include "gpu-reference/emulation/SharedMemory.h"
#include "gpu-reference/emulation/Threads.h"
#include "gpu-reference/emulation/VectorTypes.h"
#include "gpu-reference/emulation/WarpOps.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

#define ORRERY_LAUNCH(kernel, grid, block, sharedBytes, stream, ...)           \
  ::orrery::gpu::emulated::launch(                                             \
      {#kernel, (grid), (block), (sharedBytes), (stream)},                     \
      kernel __VA_OPT__(, ) __VA_ARGS__)

#define ORRERY_DYNAMIC_SHARED(T, name)                                         \
  T *name = static_cast<T *>(::orrery::gpu::emulated::dynamicShared())

#define ORRERY_SHARED(T, name, extents)                                        \
  static const char name##Key = 0;                                             \
  auto &name =                                                                 \
      ::orrery::gpu::emulated::staticShared<T extents>(&name##Key, #name)
