// Memory calls of the runtime.
#include "gpu-reference/emulation/DeviceMemory.h"
#include "gpu-reference/emulation/LastError.h"
#include "gpu-reference/emulation/Runtime.h"
#include "gpu-reference/emulation/Settings.h"
#include "gpu-reference/emulation/Stream.h"

#include <cstdlib>
#include <cstring>

namespace orrery::gpu::emulated {

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  *memory = nullptr;
  if (cudaError_t error = refuseInCapture("cudaMalloc");
      error != cudaSuccess || bytes == 0) {
    return error;
  }
  *memory = DeviceMemory::instance().allocate(bytes);
  return *memory != nullptr
             ? cudaSuccess
             : fail(cudaErrorMemoryAllocation,
                    "out of memory: " + std::to_string(bytes) + " bytes");
}

cudaError_t cudaFree(void *memory) {
  if (memory == nullptr) {
    return cudaSuccess;
  }
  return DeviceMemory::instance().release(memory)
             ? cudaSuccess
             : fail(cudaErrorInvalidValue,
                    "cudaFree of what cudaMalloc did not give");
}

cudaError_t cudaMallocHost(void **memory, size_t bytes) {
  *memory = std::malloc(bytes);
  return *memory != nullptr || bytes == 0
             ? cudaSuccess
             : fail(cudaErrorMemoryAllocation,
                    "out of host memory: " + std::to_string(bytes) + " bytes");
}

cudaError_t cudaFreeHost(void *memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  const size_t used = DeviceMemory::instance().used();
  *total = settings().memoryBytes;
  *free = *total > used ? *total - used : 0;
  return cudaSuccess;
}

/// An error unless `memory` is device memory of that many bytes, or is not (as
/// `expected` says).
static cudaError_t checkSide(const char *call, const char *side,
                             const void *memory, size_t bytes, bool expected) {
  const DeviceMemory &device = DeviceMemory::instance();
  if (expected && !device.holds(memory, bytes)) {
    return fail(cudaErrorInvalidValue, std::string(call) + ": the " + side +
                                           " is not " + std::to_string(bytes) +
                                           " bytes of one device allocation");
  }
  if (!expected && device.holds(memory, 1)) {
    return fail(cudaErrorInvalidValue, std::string(call) + ": the " + side +
                                           " is device memory, expected host");
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  if (bytes == 0) {
    return cudaSuccess;
  }
  const bool toDevice =
      kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool fromDevice =
      kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (cudaError_t error =
          checkSide("cudaMemcpy", "destination", to, bytes, toDevice);
      error != cudaSuccess) {
    return error;
  }
  if (cudaError_t error =
          checkSide("cudaMemcpy", "source", from, bytes, fromDevice);
      error != cudaSuccess) {
    return error;
  }
  return give(stream, [to, from, bytes] {
    std::memcpy(to, from, bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes,
                            cudaStream_t stream) {
  if (bytes == 0) {
    return cudaSuccess;
  }
  if (cudaError_t error =
          checkSide("cudaMemset", "destination", memory, bytes, true);
      error != cudaSuccess) {
    return error;
  }
  return give(stream, [memory, value, bytes] {
    std::memset(memory, value, bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes) {
  return cudaMemsetAsync(memory, value, bytes, nullptr);
}

} // namespace orrery::gpu::emulated
