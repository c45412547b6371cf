// The device that there is, if any. The emulation has nothing to find.
#include "gpu-reference/Backends.h"
#include "gpu-reference/CudaStatus.h"

#ifdef __CUDACC__

namespace orrery::gpu::device {

/// "13.0" of 13000.
static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Expected<DeviceInfo> findDevice() {
  int count = 0;
  if (Status ok = cudaStatus(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
      !ok) {
    (void)cudaGetLastError(); // reported here
    return Error{"no GPU: " + ok.error().message};
  }
  if (count == 0) {
    return Error{"no GPU: cudaGetDeviceCount found none"};
  }
  cudaDeviceProp properties{};
  if (Status ok = cudaStatus(cudaGetDeviceProperties(&properties, 0),
                             "cudaGetDeviceProperties");
      !ok) {
    return ok.error();
  }
  const std::string compute =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  if (properties.major < 8) {
    return Error{std::string("no GPU: expected compute capability 8.0 or "
                             "more, found ") +
                 compute + " (" + properties.name + ")"};
  }
  int driver = 0;
  int runtime = 0;
  if (Status ok =
          cudaStatus(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
      !ok) {
    return ok.error();
  }
  if (Status ok =
          cudaStatus(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
      !ok) {
    return ok.error();
  }
  return DeviceInfo{properties.name, compute, versionText(driver),
                    versionText(runtime), int64_t(properties.totalGlobalMem)};
}

} // namespace orrery::gpu::device

#endif
