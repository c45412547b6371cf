// The tensor-core instruction against three loops: fragments as documented in
// IntegerMma.cuh are filled by hand, so a wrong layout shows on a device too.
#include "gpu-reference/IntegerMma.cuh"

#include "gpu-reference/Buffer.h"
#include "tests/gpu-reference/Orders.h"

#include <gtest/gtest.h>

#include <random>

namespace orrery::gpu::ORRERY_GPU {

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kDepth = 32;

/// c += the sum over `tiles` of a tile [16][32] * b tile [32][8] (held as
/// [8][32]).
__global__ void mmaKernel(const int8_t *a, const int8_t *b, int tiles,
                          int32_t *c) {
  const auto group = int(threadIdx.x) / 4;
  const auto part = int(threadIdx.x) % 4;
  const auto word = [](const int8_t *from) {
    return *reinterpret_cast<const uint32_t *>(from);
  };
  MmaC sums;
  for (int i = 0; i < 4; ++i) {
    sums.sum[i] = c[(group + i / 2 * 8) * kColumns + 2 * part + i % 2];
  }
  for (int t = 0; t < tiles; ++t) {
    MmaA left;
    MmaB right;
    for (int i = 0; i < 4; ++i) {
      left.word[i] = word(a + t * kRows * kDepth +
                          (group + i % 2 * 8) * kDepth + i / 2 * 16 + 4 * part);
    }
    for (int i = 0; i < 2; ++i) {
      right.word[i] =
          word(b + t * kColumns * kDepth + group * kDepth + i * 16 + 4 * part);
    }
    integerMma(sums, left, right);
  }
  for (int i = 0; i < 4; ++i) {
    c[(group + i / 2 * 8) * kColumns + 2 * part + i % 2] = sums.sum[i];
  }
}

namespace {

std::vector<int8_t> randomCodes(std::mt19937 &random, size_t count) {
  std::vector<int8_t> codes(count);
  for (int8_t &code : codes) {
    code = int8_t(random());
  }
  return codes;
}

std::vector<int32_t> productOf(const std::vector<int8_t> &a,
                               const std::vector<int8_t> &b,
                               std::vector<int32_t> c) {
  const size_t tiles = a.size() / (kRows * kDepth);
  for (size_t t = 0; t < tiles; ++t) {
    for (size_t row = 0; row < kRows; ++row) {
      for (size_t column = 0; column < kColumns; ++column) {
        for (size_t k = 0; k < kDepth; ++k) {
          c[row * kColumns + column] += a[(t * kRows + row) * kDepth + k] *
                                        b[(t * kColumns + column) * kDepth + k];
        }
      }
    }
  }
  return c;
}

TEST(IntegerMma, EqualsThreeLoops) {
  std::mt19937 random(11);
  for (int tiles : {1, 2, 5}) {
    SCOPED_TRACE("seed 11, tiles " + std::to_string(tiles));
    const auto a = randomCodes(random, size_t(tiles) * kRows * kDepth);
    const auto b = randomCodes(random, size_t(tiles) * kColumns * kDepth);
    std::vector<int32_t> c(kRows * kColumns);
    for (int32_t &value : c) {
      value = int32_t(random() % 2000) - 1000;
    }
    const std::vector<int32_t> expected = productOf(a, b, c);
    inSeveralOrders([&] {
      auto left = Buffer<int8_t>::copyOf(a, "a");
      auto right = Buffer<int8_t>::copyOf(b, "b");
      auto sums = Buffer<int32_t>::copyOf(c, "c");
      ORRERY_LAUNCH(mmaKernel, dim3(1), dim3(32), 0, nullptr, left->data(),
                    right->data(), tiles, sums->data());
      ASSERT_TRUE(launchStatus("mma"));
      EXPECT_EQ(*sums->read(), expected);
    });
  }
}

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
