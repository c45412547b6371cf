// The fast forms of the accumulator against machine/numerics.h.
#include "gpu-reference/Numerics.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace orrery::gpu::emulated {
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

/// Every weight scale, with sums and activation scales of any size.
TEST(GpuNumerics, TermOfABlockIsTheDefinition) {
  const int sums[] = {0, 1, -1, 3, 127 * 127, -97531, 520192, -520192};
  for (float dx : scalesOfAnySize()) {
    for (uint32_t half = 0; half < 0x10000; ++half) {
      const float dw = halfValue(uint16_t(half));
      for (int isum : sums) {
        const int64_t expected = numerics::blockTerm(isum, dw, dx);
        const int64_t byte =
            roundTerm(dotSteps<36>(kDotStart + isum) * (dw * dx));
        ASSERT_EQ(byte, expected)
            << isum << " * " << dw << " * " << dx << " (q8_0)";
        if (isum % 16 == 0) { // what nibbles give
          const int64_t nibble =
              roundTerm(dotSteps<32>(kDotStart + isum) * (dw * dx));
          ASSERT_EQ(nibble, numerics::blockTerm(isum / 16, dw, dx))
              << isum << " * " << dw << " * " << dx << " (q4_0)";
        }
      }
    }
  }
}

TEST(GpuNumerics, RoundedTermIsTheDefinition) {
  std::mt19937 random(3);
  std::uniform_int_distribution<uint32_t> bits;
  for (int i = 0; i < 1000000; ++i) {
    const float x = numerics::bitsToFloat(bits(random));
    ASSERT_EQ(roundTerm(x * 0x1p36f), numerics::floatTerm(x)) << x;
  }
}

TEST(GpuNumerics, TermOfHalvesIsTheDefinition) {
  std::mt19937 random(4);
  std::uniform_int_distribution<uint32_t> bits(0, 0xffff);
  for (int i = 0; i < 1000000; ++i) {
    const float a = halfValue(uint16_t(bits(random)));
    const float b = halfValue(uint16_t(bits(random)));
    ASSERT_EQ(roundTerm((b * 0x1p36f) * a), numerics::halfTerm(a, b))
        << a << " * " << b;
  }
}

} // namespace
} // namespace orrery::gpu::emulated
