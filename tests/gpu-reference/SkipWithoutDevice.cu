// Skips every test of the binary, saying so, where CUDA finds no device that
// the kernels are compiled for. A listener, as tests that an environment skips
// count as passed.
#include "gpu-reference/CudaStatus.h"

#include <gtest/gtest.h>

namespace orrery::gpu::device {
namespace {

class SkipWithoutDevice : public testing::EmptyTestEventListener {
public:
  void OnTestStart(const testing::TestInfo &) override {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    int major = 0;
    if (error == cudaSuccess && count > 0) {
      error =
          cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    }
    if (error != cudaSuccess || count == 0) {
      (void)cudaGetLastError(); // reported here
      GTEST_SKIP() << "no GPU: " << cudaGetErrorString(error);
    }
    if (major < 8) {
      GTEST_SKIP() << "compute capability " << major
                   << ".x, kernels need 8.0 or more";
    }
  }
};

/// GoogleTest deletes the listener.
const bool added = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new SkipWithoutDevice);
  return true;
}();

} // namespace
} // namespace orrery::gpu::device
