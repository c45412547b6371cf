#include "gpu-reference/kernels/Gemm.h"
#include "tests/gpu-reference/Orders.h"
#include "tests/gpu-reference/kernels/ProductCase.h"

namespace orrery::gpu::ORRERY_GPU {
namespace {

struct Shape {
  int32_t rows, k;
};

class GemmShape
    : public ::testing::TestWithParam<std::tuple<MatrixFormat, Shape>> {};

TEST_P(GemmShape, EqualsTheDefinition) {
  const auto [format, shape] = GetParam();
  for (int32_t tokens : {1, 5, 8, 9, 16, 17, 40}) {
    const ProductCase product(format, shape.rows, shape.k, tokens,
                              uint32_t(shape.k * 100 + tokens));
    const ProductResult expected = product.expected();
    ASSERT_FALSE(expected.fault);
    ASSERT_EQ(product.run(gemm), expected) << tokens << " activation rows";
  }
}

// K around blocks, groups of 4 blocks, and what 4 slices of the thread block
// take at once (512); rows around a tile (16) and a thread block (32).
INSTANTIATE_TEST_SUITE_P(
    Gemm, GemmShape,
    ::testing::Combine(::testing::Values(MatrixFormat::Q8_0, MatrixFormat::Q4_0,
                                         MatrixFormat::F16),
                       ::testing::Values(Shape{1, 1}, Shape{3, 31},
                                         Shape{17, 32}, Shape{33, 33},
                                         Shape{16, 96}, Shape{31, 320},
                                         Shape{5, 545}, Shape{3, 4100})),
    [](const auto &info) {
      const Shape shape = std::get<1>(info.param);
      return formatName(std::get<0>(info.param)) + "_" +
             std::to_string(shape.rows) + "x" + std::to_string(shape.k);
    });

TEST(Gemm, DoesNotDependOnTheOrderOfThreads) {
  for (MatrixFormat format : {MatrixFormat::Q8_0, MatrixFormat::Q4_0}) {
    for (int32_t tokens : {7, 20}) {
      for (bool checked : {false, true}) {
        ProductCase product(format, 19, 700, tokens, 99);
        if (checked) {
          product.scales[5] = 0x7e00;
        }
        const ProductResult expected = product.expected();
        ASSERT_EQ(expected.fault.has_value(), checked);
        inSeveralOrders([&] {
          EXPECT_EQ(product.run(gemm), expected) << formatName(format);
        });
      }
    }
  }
}

TEST(Gemm, IsTheGemvOfEveryChunk) {
  for (MatrixFormat format :
       {MatrixFormat::Q8_0, MatrixFormat::Q4_0, MatrixFormat::F16}) {
    const ProductCase product(format, 40, 170, 8, 3);
    EXPECT_EQ(product.run(gemm), product.run(gemv)) << formatName(format);
  }
}

TEST(Gemm, OverflowIsReportedAndNaN) {
  for (MatrixFormat format : {MatrixFormat::Q8_0, MatrixFormat::Q4_0}) {
    ProductCase product(format, 40, 300, 21, 8);
    // A scale that only token 17 has makes all its sums overflow.
    product.xScales[size_t(17 * product.blocks + 9)] = 1e30f;
    ProductResult expected = product.expected();
    ASSERT_TRUE(expected.fault);
    ASSERT_EQ(expected.fault->row, 17u);
    EXPECT_EQ(product.run(gemm), expected) << formatName(format);

    // Great, but no sum overflows: the same bits by the checked sums.
    product.xScales[size_t(17 * product.blocks + 9)] = 3e4f;
    std::fill_n(product.scales.begin(), product.scales.size(), 0x0200);
    expected = product.expected();
    ASSERT_FALSE(expected.fault);
    EXPECT_EQ(product.run(gemm), expected) << formatName(format);
  }
}

TEST(Gemm, ScalesThatAreNotFinite) {
  for (MatrixFormat format : {MatrixFormat::Q8_0, MatrixFormat::Q4_0}) {
    ProductCase product(format, 40, 300, 9, 8);
    product.scales[size_t(33 * product.blocks)] = 0x7c00;
    ProductResult expected = product.expected();
    ASSERT_EQ(expected.fault, (FaultPlace{7, 0, 33}));
    EXPECT_EQ(product.run(gemm), expected) << "weight, " << formatName(format);
    product.xScales[size_t(4 * product.blocks + 2)] = NAN;
    expected = product.expected();
    EXPECT_EQ(product.run(gemm), expected) << "both, " << formatName(format);
  }
}

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
