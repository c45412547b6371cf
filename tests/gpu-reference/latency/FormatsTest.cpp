// Bytes of formats, by hand; names there and back.
#include "gpu-reference/latency/Formats.h"

#include <gtest/gtest.h>

namespace orrery::gpu::latency {
namespace {

TEST(Formats, BytesByHand) {
  EXPECT_EQ(matrixBytes(3, 64, WeightKind::Bf16), 3 * 128);
  EXPECT_EQ(matrixBytes(3, 64, WeightKind::F16), 3 * 128);
  EXPECT_EQ(matrixBytes(3, 64, WeightKind::Q8_0), 3 * 2 * 34);
  EXPECT_EQ(matrixBytes(3, 64, WeightKind::Q4_0), 3 * 2 * 18);
  EXPECT_EQ(matrixBytes(3, 64, WeightKind::Int8), 3 * 66);
  EXPECT_EQ(matrixBytes(3, 64, WeightKind::Int4), 3 * 2 * 20);
  EXPECT_EQ(matrixBytes(3, 64, WeightKind::Fp8), 3 * 64);
  // A row of 172 takes six blocks.
  EXPECT_EQ(matrixBytes(1, 172, WeightKind::Q8_0), 6 * 34);
  EXPECT_EQ(kvBytes(128, KvKind::F16), 512);
  EXPECT_EQ(kvBytes(128, KvKind::Q8), 260);
  EXPECT_EQ(kvBytes(128, KvKind::Q4), 132);
  EXPECT_EQ(kvBytes(128, KvKind::Fp8), 256);
  EXPECT_EQ(kvBytes(5, KvKind::Q4), 2 * (3 + 2));
}

TEST(Formats, NamesThereAndBack) {
  for (WeightKind kind :
       {WeightKind::Bf16, WeightKind::F16, WeightKind::Q8_0, WeightKind::Q4_0,
        WeightKind::Int8, WeightKind::Int4, WeightKind::Fp8}) {
    auto back = weightKindNamed(nameOf(kind));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, kind);
  }
  for (KvKind kind : {KvKind::F16, KvKind::Q8, KvKind::Q4, KvKind::Fp8}) {
    auto back = kvKindNamed(nameOf(kind));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, kind);
  }
  EXPECT_EQ(kvKindNamed("q9").error().message,
            "expected one of f16, q8, q4, fp8, found q9");
}

TEST(Formats, PrecisionIsOfTheCodes) {
  EXPECT_EQ(precisionBits(WeightKind::F16), 16);
  EXPECT_EQ(precisionBits(WeightKind::Q8_0), 8);
  EXPECT_EQ(precisionBits(WeightKind::Fp8), 8);
  EXPECT_EQ(precisionBits(WeightKind::Int4), 4);
}

} // namespace
} // namespace orrery::gpu::latency
