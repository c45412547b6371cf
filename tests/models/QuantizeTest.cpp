#include "models/Quantize.h"
#include "machine/numerics.h"
#include "tests/models/SharedData.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace orrery;
using namespace orrery::models;

namespace {

/// The shape of the quant-vectors: 8 rows of 512.
constexpr size_t kElements = 8 * 512;

std::vector<float> readFloats(const std::string &path) {
  std::vector<std::byte> bytes = readBytes(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

bool sameBits(std::span<const float> left, std::span<const float> right) {
  return left.size() == right.size() &&
         std::memcmp(left.data(), right.data(), left.size_bytes()) == 0;
}

struct Quantized {
  std::vector<uint16_t> scales;
  std::vector<int8_t> codes;
};

Quantized quantize(WeightFormat format, std::span<const float> row) {
  auto blocks =
      static_cast<size_t>(blocksPerRow(static_cast<int64_t>(row.size())));
  Quantized result{std::vector<uint16_t>(blocks),
                   std::vector<int8_t>(blocks * kQuantBlock)};
  quantizeRow(format, row, result.scales, result.codes);
  return result;
}

struct Vector {
  TensorType type;
  const char *name;
};

TEST(Quantize, DecodesLikeGgmlBitForBit) {
  SKIP_WITHOUT_SHARED("quant-vectors");
  constexpr Vector kVectors[] = {{TensorType::F16, "f16"},
                                 {TensorType::BF16, "bf16"},
                                 {TensorType::Q8_0, "q8_0"},
                                 {TensorType::Q4_0, "q4_0"}};
  for (const Vector &vector : kVectors) {
    std::string base = sharedFile(std::string("quant-vectors/") + vector.name);
    std::vector<float> expected = readFloats(base + ".dequant_f32.bin");
    ASSERT_EQ(expected.size(), kElements) << base;
    std::vector<float> values(kElements);
    Status done =
        dequantizeRow(vector.type, readBytes(base + ".quant.bin"), values);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(sameBits(values, expected)) << vector.name;
  }
}

TEST(Quantize, EncodesLikeGgmlBitForBit) {
  SKIP_WITHOUT_SHARED("quant-vectors");
  std::vector<float> input =
      readFloats(sharedFile("quant-vectors/input_f32_8x512.bin"));
  ASSERT_EQ(input.size(), kElements);
  for (WeightFormat format : {WeightFormat::Q8_0, WeightFormat::Q4_0}) {
    std::string name(weightFormatName(format));
    std::vector<std::byte> expected =
        readBytes(sharedFile("quant-vectors/" + name + ".quant.bin"));
    Quantized result = quantize(format, input);
    std::vector<std::byte> packed(expected.size());
    packBlocks(format, result.scales, result.codes, packed);
    EXPECT_EQ(packed, expected) << name;
  }
}

TEST(Quantize, UnpackIsTheInverseOfPack) {
  SKIP_WITHOUT_SHARED("quant-vectors");
  for (WeightFormat format : {WeightFormat::Q8_0, WeightFormat::Q4_0}) {
    std::string name(weightFormatName(format));
    std::vector<std::byte> bytes =
        readBytes(sharedFile("quant-vectors/" + name + ".quant.bin"));
    std::vector<uint16_t> scales(kElements / kQuantBlock);
    std::vector<int8_t> codes(kElements);
    unpackBlocks(format, bytes, scales, codes);
    std::vector<std::byte> again(bytes.size());
    packBlocks(format, scales, codes, again);
    EXPECT_EQ(again, bytes) << name;
  }
}

// Rows of length 172 (5 blocks and 12 elements) are real: stories260K.
TEST(Quantize, ShortLastBlockIsPaddedWithZeros) {
  for (int64_t length : {1, 12, 31, 32, 33, 63, 77, 172}) {
    std::vector<float> row(static_cast<size_t>(length));
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = std::sin(static_cast<float>(i) + 1.0f);
    }
    std::vector<float> padded = row;
    padded.resize(static_cast<size_t>(blocksPerRow(length) * kQuantBlock), 0);
    for (WeightFormat format : {WeightFormat::Q8_0, WeightFormat::Q4_0}) {
      Quantized result = quantize(format, row);
      Quantized whole = quantize(format, padded);
      EXPECT_EQ(result.scales, whole.scales) << length;
      EXPECT_EQ(result.codes, whole.codes) << length;
      EXPECT_TRUE(std::all_of(result.codes.begin() + length, result.codes.end(),
                              [](int8_t code) { return code == 0; }))
          << length;
    }
  }
  EXPECT_EQ(blocksPerRow(172), 6);
}

TEST(Quantize, RoundsHalfAwayFromZero) {
  std::array<float, 32> row{};
  row[0] = 127.0f; // scale 1
  row[1] = 0.5f;
  row[2] = -0.5f;
  row[3] = 1.5f;
  row[4] = 2.5f;
  Quantized result = quantize(WeightFormat::Q8_0, row);
  EXPECT_EQ(numerics::halfToFloat(result.scales[0]), 1.0f);
  EXPECT_EQ(result.codes[1], 1);
  EXPECT_EQ(result.codes[2], -1);
  EXPECT_EQ(result.codes[3], 2);
  EXPECT_EQ(result.codes[4], 3);
}

// The element of largest magnitude gets code -8, whatever its sign; of two
// equal ones the first decides.
TEST(Quantize, SignedMaximumOfQ4) {
  std::array<float, 32> row{};
  row[0] = 4.0f;
  row[1] = -4.0f;
  row[2] = 0.25f;
  Quantized result = quantize(WeightFormat::Q4_0, row);
  EXPECT_EQ(numerics::halfToFloat(result.scales[0]), -0.5f);
  EXPECT_EQ(result.codes[0], -8);
  EXPECT_EQ(result.codes[1], 7); // 8 does not exist
  EXPECT_EQ(result.codes[2], 0); // -0.5 + 8.5 truncated is 8
}

TEST(Quantize, ZeroAndTinyBlocksStayInRange) {
  std::array<float, 32> row{};
  for (float value : {0.0f, std::numeric_limits<float>::denorm_min(), 1e-39f,
                      1e-37f, std::numeric_limits<float>::max()}) {
    row.fill(value);
    row[7] = -value;
    for (WeightFormat format : {WeightFormat::Q8_0, WeightFormat::Q4_0}) {
      Quantized result = quantize(format, row);
      int low = format == WeightFormat::Q8_0 ? -127 : -8;
      int high = format == WeightFormat::Q8_0 ? 127 : 7;
      for (int8_t code : result.codes) {
        EXPECT_GE(code, low) << value;
        EXPECT_LE(code, high) << value;
      }
    }
  }
}

TEST(Quantize, RefusesOtherTypesAndSizes) {
  std::vector<float> values(32);
  std::vector<std::byte> bytes(18);
  Status other = dequantizeRow(TensorType::IQ4_NL, bytes, values);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message,
            "type IQ4_NL cannot be loaded (supported: F32, F16, BF16, Q8_0, "
            "Q4_0)");
  Status size = dequantizeRow(TensorType::Q8_0, bytes, values);
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().message,
            "32 values of type Q8_0: expected 34 bytes, found 18");
}

} // namespace
