#include "gpu-reference/Matrix.h"
#include "gpu-reference/emulation/Settings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace orrery::gpu::emulated {
namespace {

models::QuantizedMatrix randomMatrix(models::WeightFormat format, int64_t rows,
                                     int64_t cols, uint32_t seed) {
  std::mt19937 random(seed);
  const bool wide = format == models::WeightFormat::Q8_0;
  std::uniform_int_distribution<int> code(wide ? -128 : -8, wide ? 127 : 7);
  std::uniform_real_distribution<float> scale(-1, 1);
  models::QuantizedMatrix matrix{rows,   cols, models::blocksPerRow(cols),
                                 format, {},   {}};
  for (int64_t i = 0; i < rows * matrix.blocksPerRow; ++i) {
    matrix.scales.push_back(numerics::floatToHalf(scale(random)));
    for (int j = 0; j < numerics::kBlock; ++j) {
      const int64_t column = i % matrix.blocksPerRow * numerics::kBlock + j;
      matrix.codes.push_back(column < cols ? int8_t(code(random)) : int8_t(0));
    }
  }
  return matrix;
}

class DeviceMatrixOf : public ::testing::TestWithParam<models::WeightFormat> {};

TEST_P(DeviceMatrixOf, KeepsEveryCodeAndValue) {
  for (int64_t cols : {1, 31, 32, 33, 96, 129, 320, 1000}) {
    const auto matrix = randomMatrix(GetParam(), 5, cols, uint32_t(cols));
    const auto device = DeviceMatrix::upload(matrix, "m");
    ASSERT_TRUE(device) << device.error().message;
    const MatrixView view = device->view();
    EXPECT_EQ(view.rows, 5);
    EXPECT_EQ(view.k, cols);
    EXPECT_EQ(view.blocks(), matrix.blocksPerRow);
    EXPECT_EQ(view.rowBytes % 64, 0) << "where 16-byte loads and sectors start";
    for (int64_t row = 0; row < matrix.rows; ++row) {
      const std::vector<float> values = matrix.dequantizedRow(row);
      for (int32_t i = 0; i < cols; ++i) {
        ASSERT_EQ(view.code(row, i),
                  matrix.codes[size_t(
                      row * matrix.blocksPerRow * numerics::kBlock + i)])
            << "row " << row << ", column " << i << " of " << cols;
        ASSERT_EQ(view.value(row, i), values[size_t(i)]);
      }
    }
  }
}

/// The greatest product that scales and codes can make stays below 2^26, and
/// the limit is no more than a bit lower than it could be.
TEST_P(DeviceMatrixOf, LimitLeavesRoomForEverySum) {
  const double dot =
      32.0 * 127 * (GetParam() == models::WeightFormat::Q8_0 ? 128 : 8);
  const auto matrix = randomMatrix(GetParam(), 7, 300, 5);
  double greatest = 0;
  for (int64_t row = 0; row < 7; ++row) {
    double sum = 0;
    for (int64_t b = 0; b < 10; ++b) {
      sum +=
          std::fabs(numerics::halfToFloat(matrix.scales[size_t(row * 10 + b)]));
    }
    greatest = std::max(greatest, sum * dot);
  }
  const auto device = DeviceMatrix::upload(matrix, "m");
  const double reached = greatest * double(device->view().activationLimit);
  EXPECT_LT(reached, 0x1p26);
  EXPECT_GT(reached, 0x1p26 * 0.9999);
}

TEST_P(DeviceMatrixOf, LimitOfZeroWeightsAndOfWeightsThatAreNotFinite) {
  auto matrix = randomMatrix(GetParam(), 2, 64, 5);
  for (uint16_t half : {0x7c00, 0xfc00, 0x7e00}) {
    matrix.scales = {0, 0, half, 0x3c00};
    EXPECT_EQ(DeviceMatrix::upload(matrix, "m")->view().activationLimit, 0);
    matrix.scales = {half, 0, 0x3c00, 0};
    EXPECT_EQ(DeviceMatrix::upload(matrix, "m")->view().activationLimit, 0);
  }
  matrix.scales = {0, 0, 0x8000, 0};
  const float limit = DeviceMatrix::upload(matrix, "m")->view().activationLimit;
  EXPECT_GT(limit, 1e38f);
  EXPECT_TRUE(std::isfinite(limit)) << "an infinite scale must not be below it";
}

INSTANTIATE_TEST_SUITE_P(GpuMatrix, DeviceMatrixOf,
                         ::testing::Values(models::WeightFormat::Q8_0,
                                           models::WeightFormat::Q4_0),
                         [](const auto &info) {
                           return std::string(
                               models::weightFormatName(info.param));
                         });

TEST(GpuMatrix, HalvesAreRounded) {
  const std::vector<float> values = {0.1f, -3.0f, 1e-7f, 70000.0f, 2049.0f, 0};
  const auto device = DeviceMatrix::uploadHalves(2, 3, values, "m");
  ASSERT_TRUE(device) << device.error().message;
  for (int32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(device->view().value(i / 3, i % 3),
              numerics::roundToHalf(values[size_t(i)]));
  }
  EXPECT_EQ(device->view().activationLimit, 0) << "70000 is no f16 value";
}

TEST(GpuMatrix, ShapesThatKernelsDoNotTake) {
  models::QuantizedMatrix matrix;
  matrix.cols = 32;
  auto device = DeviceMatrix::upload(matrix, "blk.0.attn_q.weight");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().message,
            "blk.0.attn_q.weight: unsupported shape [0, 32], expected 1 to "
            "16777215 rows and columns");
  device = DeviceMatrix::uploadHalves(1 << 24, 1, {}, "m");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().message, "m: unsupported shape [16777216, 1], "
                                    "expected 1 to 16777215 rows and columns");
  device = DeviceMatrix::uploadHalves(2, 2, std::vector<float>(3), "m");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().message, "m: expected 4 values, found 3");
}

TEST(GpuMatrix, OutOfMemoryNamesTheMatrix) {
  Settings small = settings();
  small.memoryBytes = 1000;
  const SettingsScope scope(small);
  const auto device = DeviceMatrix::upload(
      randomMatrix(models::WeightFormat::Q8_0, 100, 32, 1), "output.weight");
  ASSERT_FALSE(device);
  EXPECT_NE(device.error().message.find(
                "out of device memory: 12800 bytes for output.weight"),
            std::string::npos)
      << device.error().message;
}

} // namespace
} // namespace orrery::gpu::emulated
