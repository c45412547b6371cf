// Skips every test of the binary, saying so, where CUDA finds no device. A
// listener, as tests that an environment skips count as passed.
#include "gpu-reference/CudaStatus.h"

#include <gtest/gtest.h>

namespace orrery::gpu::device {
namespace {

class SkipWithoutDevice : public testing::EmptyTestEventListener {
public:
  void OnTestStart(const testing::TestInfo &) override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
      (void)cudaGetLastError(); // reported here
      GTEST_SKIP() << "no GPU: " << cudaGetErrorString(error);
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
