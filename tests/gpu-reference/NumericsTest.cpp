// The fast forms of the accumulator against machine/numerics.h.
#include "gpu-reference/Numerics.cuh"
#include "gpu-reference/Buffer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {
namespace {

std::vector<float> scalesOfAnySize() {
  std::vector<float> scales = {
      0.0f,      -0.0f,     1.0f,     1.9999999f, 0x1p-149f, 0x1.8p-140f,
      0x1p-126f, 0x1p-113f, 3.7e-12f, 0.0101f,    127.0f,    4.0e7f,
      0x1p92f,   0x1p127f,  INFINITY, NAN,        -0.3f};
  std::mt19937 random(5);
  std::uniform_int_distribution<uint32_t> bits;
  for (int i = 0; i < 8; ++i) {
    scales.push_back(numerics::bitsToFloat(bits(random)));
  }
  return scales;
}

template <class T> Buffer<T> onDevice(const std::vector<T> &values) {
  auto buffer = Buffer<T>::copyOf(values, "values");
  EXPECT_TRUE(buffer) << buffer.error().message;
  return std::move(*buffer);
}

/// out[i] for i = 0 .. count-1, by a kernel over as many threads.
template <class Launch>
std::vector<int64_t> termsOf(size_t count, Launch launch) {
  auto out = onDevice(std::vector<int64_t>(count));
  launch(dim3(unsigned((count + 255) / 256)), dim3(256), out.data());
  const Status launched = launchStatus("terms");
  EXPECT_TRUE(launched) << launched.error().message;
  auto read = out.read();
  EXPECT_TRUE(read) << read.error().message;
  return std::move(*read);
}

/// out[half][s] of a weight scale's bits and the s-th sum.
template <int kSteps>
__global__ void blockTerms(float dx, const int *sums, int count, int64_t *out) {
  const unsigned half = blockIdx.x * blockDim.x + threadIdx.x;
  const float dw = halfValue(uint16_t(half));
  for (int s = 0; s < count; ++s) {
    out[half * unsigned(count) + unsigned(s)] =
        roundTerm(dotSteps<kSteps>(kDotStart + sums[s]) * (dw * dx));
  }
}

/// Every weight scale, with sums and activation scales of any size.
template <int kSteps>
void expectBlockTerms(const std::vector<int> &sums, int divisor) {
  constexpr size_t kHalves = 0x10000;
  const auto deviceSums = onDevice(sums);
  for (float dx : scalesOfAnySize()) {
    const auto found =
        termsOf(kHalves * sums.size(), [&](dim3, dim3 block, int64_t *out) {
          ORRERY_LAUNCH(blockTerms<kSteps>, dim3(kHalves / block.x), block, 0,
                        nullptr, dx, deviceSums.data(), int(sums.size()), out);
        });
    for (size_t i = 0; i < found.size(); ++i) {
      const float dw = numerics::halfToFloat(uint16_t(i / sums.size()));
      const int isum = sums[i % sums.size()];
      ASSERT_EQ(found[i], numerics::blockTerm(isum / divisor, dw, dx))
          << isum << " * " << dw << " * " << dx;
    }
  }
}

TEST(GpuNumerics, TermOfABlockIsTheDefinition) {
  expectBlockTerms<36>({0, 1, -1, 3, 127 * 127, -97531, 520192, -520192}, 1);
}

// What nibbles give: 16 times the sum.
TEST(GpuNumerics, TermOfABlockOfNibblesIsTheDefinition) {
  expectBlockTerms<32>({0, 16, -16, 48, 520192, -520192}, 16);
}

__global__ void roundedTerms(const float *x, unsigned count, int64_t *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    out[i] = roundTerm(x[i] * 0x1p36f);
  }
}

TEST(GpuNumerics, RoundedTermIsTheDefinition) {
  std::mt19937 random(3);
  std::uniform_int_distribution<uint32_t> bits;
  std::vector<float> x(1000000);
  for (float &value : x) {
    value = numerics::bitsToFloat(bits(random));
  }
  const auto deviceX = onDevice(x);
  const auto found =
      termsOf(x.size(), [&](dim3 grid, dim3 block, int64_t *out) {
        ORRERY_LAUNCH(roundedTerms, grid, block, 0, nullptr, deviceX.data(),
                      unsigned(x.size()), out);
      });
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(found[i], numerics::floatTerm(x[i])) << x[i];
  }
}

/// out[i] of the pair x[i], its low half times its high half.
__global__ void halfTerms(const uint32_t *x, unsigned count, int64_t *out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    out[i] = roundTerm((halfValue(uint16_t(x[i] >> 16)) * 0x1p36f) *
                       halfValue(uint16_t(x[i])));
  }
}

TEST(GpuNumerics, TermOfHalvesIsTheDefinition) {
  std::mt19937 random(4);
  std::uniform_int_distribution<uint32_t> bits;
  std::vector<uint32_t> x(1000000);
  for (uint32_t &pair : x) {
    pair = bits(random);
  }
  const auto deviceX = onDevice(x);
  const auto found =
      termsOf(x.size(), [&](dim3 grid, dim3 block, int64_t *out) {
        ORRERY_LAUNCH(halfTerms, grid, block, 0, nullptr, deviceX.data(),
                      unsigned(x.size()), out);
      });
  for (size_t i = 0; i < x.size(); ++i) {
    const float a = numerics::halfToFloat(uint16_t(x[i]));
    const float b = numerics::halfToFloat(uint16_t(x[i] >> 16));
    ASSERT_EQ(found[i], numerics::halfTerm(a, b)) << a << " * " << b;
  }
}

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
