#include "tests/gpu-reference/Orders.h"
#include "tests/gpu-reference/kernels/ProductCase.h"

#include <algorithm>
#include <cmath>

namespace orrery::gpu::ORRERY_GPU {
namespace {

//===-- Shapes ------------------------------------------------------------===//

struct Shape {
  int32_t rows, k;
};

class GemvShape
    : public ::testing::TestWithParam<std::tuple<MatrixFormat, Shape>> {};

TEST_P(GemvShape, EqualsTheDefinition) {
  const auto [format, shape] = GetParam();
  for (int32_t tokens = 1; tokens <= kGemvRows; ++tokens) {
    ProductCase product(format, shape.rows, shape.k, tokens,
                        uint32_t(shape.k * 100 + tokens));
    const ProductResult expected = product.expected();
    ASSERT_FALSE(expected.fault);
    ASSERT_EQ(product.run(gemv), expected) << tokens << " activation rows";
    product.large = product.largeOfScales();
    ASSERT_EQ(product.large, 0u);
    ASSERT_EQ(product.run(gemv), expected)
        << tokens << " activation rows known to be small";
  }
}

// K around blocks, groups of 4 blocks, what 8 lanes take at once (32 blocks),
// where 32 lanes take over (49 blocks), and what those take at once (128);
// rows around what a thread block takes (4, 8, 16, 32).
INSTANTIATE_TEST_SUITE_P(
    Gemv, GemvShape,
    ::testing::Combine(::testing::Values(MatrixFormat::Q8_0, MatrixFormat::Q4_0,
                                         MatrixFormat::F16),
                       ::testing::Values(Shape{1, 1}, Shape{3, 31},
                                         Shape{17, 32}, Shape{33, 33},
                                         Shape{5, 96}, Shape{16, 129},
                                         Shape{65, 320}, Shape{2, 1000},
                                         Shape{7, 1024}, Shape{3, 1056},
                                         Shape{9, 1569}, Shape{5, 4096},
                                         Shape{2, 4100}, Shape{1, 11008})),
    [](const auto &info) {
      const Shape shape = std::get<1>(info.param);
      return formatName(std::get<0>(info.param)) + "_" +
             std::to_string(shape.rows) + "x" + std::to_string(shape.k);
    });

TEST(Gemv, DoesNotDependOnTheOrderOfThreads) {
  for (MatrixFormat format :
       {MatrixFormat::Q8_0, MatrixFormat::Q4_0, MatrixFormat::F16}) {
    for (const Shape shape : {Shape{11, 330}, Shape{7, 2000}}) {
      for (int32_t tokens : {1, 3, 8}) {
        ProductCase product(format, shape.rows, shape.k, tokens, 99);
        if (format != MatrixFormat::F16) {
          product.scales[0] = 0x7e00; // the checked path too
        }
        const ProductResult expected = product.expected();
        inSeveralOrders([&] {
          EXPECT_EQ(product.run(gemv), expected)
              << formatName(format) << " [" << shape.rows << ", " << shape.k
              << "]";
        });
      }
    }
  }
}

//===-- Magnitudes --------------------------------------------------------===//

class GemvRange : public ::testing::TestWithParam<MatrixFormat> {
protected:
  /// Every code at its greatest magnitude, all products of one sign.
  static void makeLarge(ProductCase &product, float dw, float dx) {
    const bool wide = product.format == MatrixFormat::Q8_0;
    for (size_t i = 0; i < product.codes.size(); ++i) {
      product.codes[i] = wide ? -128 : -8;
    }
    std::ranges::fill(product.xCodes, int8_t(127));
    std::ranges::fill(product.scales, numerics::floatToHalf(dw));
    std::ranges::fill(product.xScales, dx);
  }
};

/// The same sums, whichever way: scales below and above every limit.
TEST_P(GemvRange, ScalesOfAnySizeThatFit) {
  for (float dx : {0x1p-149f, 0x1p-100f, 1.9f, 2.0f, 500.0f, 1e5f}) {
    for (int32_t k : {64, 2048}) {
      ProductCase product(GetParam(), 5, k, 2, 1);
      std::ranges::fill(product.xScales, dx);
      std::ranges::fill(product.scales, uint16_t(0x0011)); // subnormal
      product.scales[1] = numerics::floatToHalf(dx > 1 ? 1e-5f : 1.0f);
      const ProductResult expected = product.expected();
      ASSERT_FALSE(expected.fault) << dx;
      EXPECT_EQ(product.run(gemv), expected) << dx;
    }
  }
}

TEST_P(GemvRange, SumsUpToTheEndOfTheRange) {
  const double dot = 32.0 * 127 * (GetParam() == MatrixFormat::Q8_0 ? 128 : 8);
  for (int32_t k : {96, 1600}) {
    // Fractions of 2^27: just inside, and just outside.
    for (double part : {0.49, 0.51, 0.999, 1.001, 3.0}) {
      ProductCase product(GetParam(), 3, k, 1, 1);
      makeLarge(product, 0.5f, 1);
      const double sum = 0.5 * dot * product.blocks;
      std::ranges::fill(product.xScales, float(part * 0x1p27 / sum));
      const ProductResult expected = product.expected();
      ASSERT_EQ(expected.fault.has_value(), part > 1);
      EXPECT_EQ(product.run(gemv), expected) << part << ", k = " << k;
    }
  }
}

TEST_P(GemvRange, OverflowOfOneRowIsReportedAndNaN) {
  for (int32_t k : {70, 3000}) {
    ProductCase product(GetParam(), 13, k, 3, 8);
    // Row 5 of the weights with token 1: one huge term.
    const int32_t block = product.blocks - 1;
    product.scales[size_t(5 * product.blocks + block)] = 0x7bff; // 65504
    product.xScales[size_t(1 * product.blocks + block)] = 1e30f;
    product.codes[size_t(5 * product.padded() + block * 32)] = 7;
    for (int i = 0; i < 32; ++i) {
      product.xCodes[size_t(product.padded() + block * 32 + i)] = i == 0;
    }
    // The other rows of token 1 do not see it.
    for (int32_t row = 0; row < product.rows; ++row) {
      if (row != 5) {
        product.codes[size_t(row * product.padded() + block * 32)] = 0;
      }
    }
    const ProductResult expected = product.expected();
    ASSERT_EQ(expected.fault, (FaultPlace{7, 1, 5}));
    EXPECT_EQ(product.run(gemv), expected);
  }
}

TEST_P(GemvRange, ScalesThatAreNotFinite) {
  for (uint16_t half : {0x7e00, 0x7c00, 0xfc00}) {
    ProductCase product(GetParam(), 9, 200, 2, 8);
    product.scales[size_t(4 * product.blocks + 2)] = half;
    const ProductResult expected = product.expected();
    ASSERT_TRUE(expected.fault);
    EXPECT_EQ(product.run(gemv), expected) << half;
  }
  for (float scale : {float(INFINITY), float(NAN)}) {
    ProductCase product(GetParam(), 9, 200, 3, 8);
    product.xScales[size_t(2 * product.blocks + 6)] = scale;
    const ProductResult expected = product.expected();
    ASSERT_EQ(expected.fault, (FaultPlace{7, 2, 0}));
    EXPECT_EQ(product.run(gemv), expected) << scale;
  }
}

/// More scales than a thread block looks at in one go.
TEST_P(GemvRange, TheLastScaleOfMany) {
  ProductCase product(GetParam(), 3, 8192, 2, 8);
  product.xScales.back() = 1e30f;
  const ProductResult expected = product.expected();
  ASSERT_EQ(expected.fault, (FaultPlace{7, 1, 0}));
  EXPECT_EQ(product.run(gemv), expected);
}

/// The greatest sums that scales known to be small can have, of either sign:
/// nobody looks, and two reductions hold them.
TEST_P(GemvRange, SumsUpToTheEndOfWhatIsNotLookedAt) {
  const double dot = 32.0 * 127 * (GetParam() == MatrixFormat::Q8_0 ? 128 : 8);
  for (int32_t k : {96, 1600, 16384}) {
    for (int sign : {1, -1}) {
      ProductCase product(GetParam(), 3, k, 3, 1);
      // Just below 2^26 / 32 / 8, in f16.
      makeLarge(product, float(0x1p18 / (dot * product.blocks) * 0.999), 1);
      std::ranges::fill(product.xCodes, int8_t(127 * sign));
      std::ranges::fill(product.xScales, std::nextafter(kLargeScale, 0.0f));
      product.large = product.largeOfScales();
      ASSERT_EQ(product.large, 0u);
      const ProductResult expected = product.expected();
      ASSERT_FALSE(expected.fault);
      ASSERT_GT(-sign * expected.y[0], 0.99 * 0x1p21);
      ASSERT_LT(-sign * expected.y[0], 0x1p21);
      EXPECT_EQ(product.run(gemv), expected) << "k = " << k;
    }
  }
}

/// Sums out of range where the word says 0 and where it says 1.
TEST_P(GemvRange, LooksAtScalesUnlessBothSidesAreSmall) {
  for (int32_t k : {96, 1600}) {
    ProductCase product(GetParam(), 3, k, 2, 1);
    makeLarge(product, 60000, 1);
    std::ranges::fill(product.xScales, 7.0f);
    product.large = product.largeOfScales();
    ASSERT_EQ(product.large, 0u);
    ProductResult expected = product.expected();
    ASSERT_TRUE(expected.fault);
    EXPECT_EQ(product.run(gemv), expected) << "large weights";

    makeLarge(product, 0x1p-14f, 1);
    product.xScales.back() = 1e30f;
    product.large = product.largeOfScales();
    ASSERT_EQ(product.large, 1u);
    expected = product.expected();
    ASSERT_TRUE(expected.fault);
    EXPECT_EQ(product.run(gemv), expected) << "large activations";

    // Large, but in range.
    product.xScales.back() = 100;
    product.large = product.largeOfScales();
    ASSERT_EQ(product.large, 1u);
    expected = product.expected();
    ASSERT_FALSE(expected.fault);
    EXPECT_EQ(product.run(gemv), expected) << "in range";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Gemv, GemvRange, ::testing::Values(MatrixFormat::Q8_0, MatrixFormat::Q4_0),
    [](const auto &info) { return formatName(info.param); });

TEST(Gemv, HalvesOfAnySize) {
  for (int32_t k : {21, 1500}) {
    ProductCase product(MatrixFormat::F16, 6, k, 3, 8);
    product.values[size_t(2 * k + 20)] = 40000;
    product.xHalves[size_t(1 * product.padded() + 20)] =
        numerics::floatToHalf(60000);
    ProductResult expected = product.expected();
    ASSERT_EQ(expected.fault, (FaultPlace{7, 1, 2}));
    EXPECT_EQ(product.run(gemv), expected) << "too great a product";

    product.xHalves[size_t(1 * product.padded() + 20)] =
        numerics::floatToHalf(3000);
    expected = product.expected();
    ASSERT_FALSE(expected.fault);
    EXPECT_EQ(product.run(gemv), expected) << "just in range";

    product.xHalves[size_t(2 * product.padded() + 3)] = 0x7c00;
    expected = product.expected();
    ASSERT_EQ(expected.fault, (FaultPlace{7, 2, 0}));
    EXPECT_EQ(product.run(gemv), expected) << "an infinite activation";

    product.values[size_t(3 * k)] = NAN;
    expected = product.expected();
    ASSERT_EQ(expected.fault, (FaultPlace{7, 0, 3}));
    EXPECT_EQ(product.run(gemv), expected) << "a NaN weight";
  }
}

TEST(Gemv, WhatLiesPastKStaysOut) {
  ProductCase product(MatrixFormat::F16, 6, 21, 1, 8);
  product.xHalves[22] = 0x7c00;
  const ProductResult expected = product.expected();
  ASSERT_FALSE(expected.fault);
  EXPECT_EQ(product.run(gemv), expected);
}

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
