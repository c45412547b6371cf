// The one device of the emulation. Its numbers are those of a large GPU where
// they decide what kernels may do, and small where they only decide how work is
// cut.
#include "gpu-reference/emulation/LastError.h"
#include "gpu-reference/emulation/Runtime.h"
#include "gpu-reference/emulation/Settings.h"

#include <cstring>

namespace orrery::gpu::emulated {

static constexpr int kMultiprocessors = 4; // *assumed*; small grids
static constexpr int kMajor = 9;
static constexpr int kMinor = 0;

static cudaError_t checkDevice(int device) {
  return device == 0 ? cudaSuccess
                     : fail(cudaErrorInvalidDevice,
                            "device " + std::to_string(device) + " of 1");
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return checkDevice(device); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
  *properties = {};
  std::strcpy(properties->name, "emulated on the host");
  properties->totalGlobalMem = settings().memoryBytes;
  properties->sharedMemPerBlock = size_t(48) * 1024;
  properties->sharedMemPerBlockOptin = settings().sharedBytes;
  properties->major = kMajor;
  properties->minor = kMinor;
  properties->multiProcessorCount = kMultiprocessors;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  return checkDevice(device);
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute,
                                   int device) {
  switch (attribute) {
  case cudaDevAttrMultiProcessorCount:
    *value = kMultiprocessors;
    break;
  case cudaDevAttrComputeCapabilityMajor:
    *value = kMajor;
    break;
  case cudaDevAttrComputeCapabilityMinor:
    *value = kMinor;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = int(settings().sharedBytes);
    break;
  }
  return checkDevice(device);
}

cudaError_t cudaDriverGetVersion(int *version) {
  *version = 0; // there is no driver
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 0;
  return cudaSuccess;
}

} // namespace orrery::gpu::emulated
