// One product of the GPU reference with made-up operands, what it must give,
// and what kernels give. For the tests of matrix kernels.
#pragma once

#include "gpu-reference/kernels/Gemv.h"
#include "machine/kernels/Gemv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

/// Bits that differ where values do, with NaN equal to itself.
inline std::vector<uint32_t> bitsOf(const std::vector<float> &values) {
  std::vector<uint32_t> bits;
  for (float value : values) {
    bits.push_back(numerics::floatToBits(value));
  }
  return bits;
}

struct ProductResult {
  std::vector<float> y; ///< [tokens][rows]
  std::optional<FaultPlace> fault;

  bool operator==(const ProductResult &other) const {
    return bitsOf(y) == bitsOf(other.y) && fault == other.fault;
  }
};

inline void PrintTo(const ProductResult &result, std::ostream *out) {
  *out << (result.fault
               ? "fault at row " + std::to_string(result.fault->row) +
                     ", element " + std::to_string(result.fault->element)
               : "no fault")
       << ", y = " << ::testing::PrintToString(result.y);
}

/// Operands are public so that tests can put in what they are about.
class ProductCase {
public:
  const MatrixFormat format;
  const int32_t rows, k, tokens;
  const int32_t blocks = (k + numerics::kBlock - 1) / numerics::kBlock;

  std::vector<int8_t> codes;    ///< [rows][blocks * 32], 0 past k
  std::vector<uint16_t> scales; ///< [rows][blocks] f16
  std::vector<float> values;    ///< F16: [rows][k]
  /// [tokens][blocks * 32]: not 0 past k, as nobody should need that.
  std::vector<int8_t> xCodes;
  std::vector<float> xScales;    ///< [tokens][blocks]
  std::vector<uint16_t> xHalves; ///< F16: [tokens][blocks * 32]
  /// ActivationView::large: none, or what the word says.
  std::optional<uint32_t> large;

  /// What quantization would have it say.
  uint32_t largeOfScales() const {
    return std::ranges::all_of(xScales,
                               [](float scale) { return scale < kLargeScale; })
               ? 0
               : 1;
  }

  ProductCase(MatrixFormat format, int32_t rows, int32_t k, int32_t tokens,
              uint32_t seed)
      : format(format), rows(rows), k(k), tokens(tokens), random(seed) {
    if (format == MatrixFormat::F16) {
      fillHalves();
    } else {
      fillCodes();
    }
  }

  int padded() const { return blocks * numerics::kBlock; }

  /// By the scalar definitions of machine/kernels.
  ProductResult expected() const {
    ProductResult result;
    const numerics::PackedMatrix packed = pack();
    std::vector<float> x;
    for (uint16_t half : xHalves) {
      x.push_back(numerics::halfToFloat(half));
    }
    const numerics::A8View view{tokens,         k,     xCodes.data(), padded(),
                                xScales.data(), blocks};
    const numerics::FloatView halves{tokens, k, x.data(), padded()};
    for (int32_t t = 0; t < tokens; ++t) {
      for (int32_t row = 0; row < rows; ++row) {
        int64_t sum = 0;
        const bool inRange =
            format == MatrixFormat::F16
                ? numerics::accumulateHalves(packed.view(), halves, row, t, 0,
                                             k, sum)
                : numerics::accumulateBlocks(packed.view(), view, row, t, 0,
                                             blocks, sum);
        if (inRange && numerics::accumulatorInRange(sum)) {
          result.y.push_back(numerics::readAccumulator(sum));
          continue;
        }
        result.y.push_back(std::numeric_limits<float>::quiet_NaN());
        if (!result.fault) {
          result.fault = FaultPlace{kOp, uint32_t(t), uint32_t(row)};
        }
      }
    }
    return result;
  }

  using Kernel = void (*)(const MatrixView &, const ActivationView &, float *,
                          int64_t, FaultSite, cudaStream_t);

  /// By `kernel`: gemv or gemm.
  ProductResult run(Kernel kernel) const {
    Expected<ProductResult> result = tryRun(kernel);
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(*result) : ProductResult();
  }

  /// Or what the launch reports.
  Expected<ProductResult> tryRun(Kernel kernel) const {
    auto weight = DeviceMatrix::upload(bytes(), "weight");
    auto xCode = Buffer<int8_t>::copyOf(xCodes, "codes");
    auto xScale = Buffer<float>::copyOf(xScales, "scales");
    auto xHalf = Buffer<uint16_t>::copyOf(xHalves, "halves");
    const int64_t stride = rows + 3;
    auto y = Buffer<float>::copyOf(
        std::vector<float>(size_t(stride * tokens), kUntouched), "y");
    auto fault = Buffer<Fault>::copyOf({Fault{kNoFault}}, "fault");
    auto word = Buffer<uint32_t>::copyOf(
        std::vector<uint32_t>(large ? 1 : 0, large.value_or(0)), "large");
    EXPECT_TRUE(weight && xCode && xScale && xHalf && y && fault && word);
    const ActivationView x{
        tokens,        k,           nullptr, xCode->data(), xScale->data(),
        xHalf->data(), word->data()};
    kernel(weight->view(), x, y->data(), stride, {fault->data(), kOp}, nullptr);
    if (Status ok = launchStatus("product"); !ok) {
      return ok.error();
    }
    return result(*y->read(), stride, *fault->read());
  }

  int random8(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  }
  float randomFloat(float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  }

private:
  static constexpr uint32_t kOp = 7;
  static constexpr float kUntouched = 12345;
  /// What lies where no result may come from: NaN scales, codes of -1.
  static constexpr uint8_t kFiller = 0xff;

  void fillCodes() {
    const bool wide = format == MatrixFormat::Q8_0;
    for (int32_t i = 0; i < rows * padded(); ++i) {
      const int code = wide ? random8(-128, 127) : random8(-8, 7);
      codes.push_back(i % padded() < k ? int8_t(code) : int8_t(0));
    }
    for (int32_t i = 0; i < rows * blocks; ++i) {
      scales.push_back(numerics::floatToHalf(randomFloat(-0.01f, 0.01f)));
    }
    for (int32_t i = 0; i < tokens * padded(); ++i) {
      xCodes.push_back(int8_t(random8(-127, 127)));
    }
    for (int32_t i = 0; i < tokens * blocks; ++i) {
      xScales.push_back(randomFloat(0, 0.05f));
    }
  }

  void fillHalves() {
    for (int32_t i = 0; i < rows * k; ++i) {
      values.push_back(randomFloat(-0.1f, 0.1f));
    }
    for (int32_t i = 0; i < tokens * padded(); ++i) {
      xHalves.push_back(numerics::floatToHalf(randomFloat(-4, 4)));
    }
  }

  numerics::PackedMatrix pack() const {
    if (format == MatrixFormat::F16) {
      std::vector<uint16_t> halves;
      for (float value : values) {
        halves.push_back(numerics::floatToHalf(value));
      }
      return numerics::PackedMatrix::packHalf(rows, k, halves.data());
    }
    std::vector<int8_t> compact;
    std::vector<uint8_t> nibbles;
    for (int32_t row = 0; row < rows; ++row) {
      for (int32_t i = 0; i < k; ++i) {
        compact.push_back(codes[size_t(row * padded() + i)]);
        nibbles.push_back(uint8_t(compact.back() + 8));
      }
    }
    return format == MatrixFormat::Q8_0
               ? numerics::PackedMatrix::packQ8(rows, k, compact.data(),
                                                scales.data())
               : numerics::PackedMatrix::packQ4(rows, k, nibbles.data(),
                                                scales.data());
  }

  MatrixBytes bytes() const {
    if (format == MatrixFormat::F16) {
      return MatrixBytes::packHalves(rows, k, values, kFiller);
    }
    const auto stored = format == MatrixFormat::Q8_0
                            ? models::WeightFormat::Q8_0
                            : models::WeightFormat::Q4_0;
    return MatrixBytes::pack({rows, k, blocks, stored, scales, codes}, kFiller);
  }

  ProductResult result(const std::vector<float> &y, int64_t stride,
                       const std::vector<Fault> &fault) const {
    ProductResult result;
    for (int64_t i = 0; i < int64_t(y.size()); ++i) {
      if (i % stride < rows) {
        result.y.push_back(y[size_t(i)]);
      } else {
        EXPECT_EQ(y[size_t(i)], kUntouched) << "between rows of the result";
      }
    }
    result.fault = faultPlace(fault[0]);
    return result;
  }

  std::mt19937 random;
};

inline std::string formatName(MatrixFormat format) {
  return format == MatrixFormat::Q8_0   ? "q8_0"
         : format == MatrixFormat::Q4_0 ? "q4_0"
                                        : "f16";
}

} // namespace orrery::gpu::ORRERY_GPU
