// Intrinsics against the plain meaning of their descriptions.
#include "gpu-reference/Cuda.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace orrery::gpu::emulated {
namespace {

int signedByte(unsigned word, int i) { return int8_t(word >> (8 * i)); }
unsigned byteOf(unsigned word, int i) { return (word >> (8 * i)) & 0xffu; }

TEST(Intrinsics, OfBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const auto a = unsigned(random());
    const auto b = unsigned(random());
    const auto c = unsigned(random());
    int sum = 0;
    unsigned unsignedSum = 0;
    unsigned difference = 0;
    unsigned total = 0;
    for (int i = 0; i < 4; ++i) {
      sum += signedByte(a, i) * signedByte(b, i);
      unsignedSum += byteOf(a, i) * byteOf(b, i);
      difference |= ((byteOf(a, i) - byteOf(b, i)) & 0xffu) << (8 * i);
      total |= ((byteOf(a, i) + byteOf(b, i)) & 0xffu) << (8 * i);
    }
    EXPECT_EQ(unsigned(__dp4a(int(a), int(b), int(c))), unsigned(sum) + c);
    EXPECT_EQ(__dp4a(a, b, c), unsignedSum + c);
    EXPECT_EQ(__vsub4(a, b), difference);
    EXPECT_EQ(__vadd4(a, b), total);
  }
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x7531u), 0x77553311u);
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x0426u), 0x00442266u);
}

// PTX ISA, cvt: saturated, NaN to the lowest for s64 and to 0 for s32.
TEST(Intrinsics, RoundToIntegers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::pair<float, long long> wide[] = {
      {0.5f, 0},
      {1.5f, 2},
      {-2.5f, -2},
      {0x1p62f, 1ll << 62},
      {0x1p63f, INT64_MAX},
      {-0x1p63f, INT64_MIN},
      {infinity, INT64_MAX},
      {-infinity, INT64_MIN},
      {nan, INT64_MIN},
      {-0x1.fffffep62f, -0x7fffff8000000000ll}};
  for (const auto &[x, expected] : wide) {
    EXPECT_EQ(__float2ll_rn(x), expected) << x;
  }
  const std::pair<float, int> narrow[] = {{0.5f, 0},
                                          {-3.5f, -4},
                                          {0x1p31f, INT32_MAX},
                                          {-0x1p31f, INT32_MIN},
                                          {infinity, INT32_MAX},
                                          {-infinity, INT32_MIN},
                                          {nan, 0},
                                          {0x1.fffffep30f, 0x7fffff80}};
  for (const auto &[x, expected] : narrow) {
    EXPECT_EQ(__float2int_rn(x), expected) << x;
  }
}

TEST(Intrinsics, CountBits) {
  EXPECT_EQ(__popc(0xf0f0u), 8);
  EXPECT_EQ(__popcll(1ull << 63 | 1), 2);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__umulhi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
}

} // namespace
} // namespace orrery::gpu::emulated
