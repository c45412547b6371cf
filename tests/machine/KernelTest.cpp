// SIMD kernels against the scalar definitions, bit for bit, on every
// instruction set this machine can run.

#include "machine/kernels/Gemv.h"
#include "machine/kernels/Rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <hwy/targets.h>
#include <random>
#include <string>

namespace orrery::numerics {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

/// Runs `body` with each instruction set selected, with and without VNNI.
void onEveryTarget(const std::function<void()> &body) {
  int count = 0;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
    allowVnni(false);
    body();
    allowVnni(true);
    ++count;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(count, 1);
}

/// Everything one matrix product needs, from a seed.
class Problem {
public:
  Problem(uint32_t seed, PackedFormat format, int64_t rows, int64_t k,
          int64_t t, int block, bool withMins, float scaleUnit)
      : random(seed), matrix(format, rows, k, block, withMins),
        x(size_t(t * k)), activations(t, k) {
    for (int64_t row = 0; row < rows; ++row) {
      fillRow(row, withMins, scaleUnit);
    }
    std::normal_distribution<float> normal(0, 2);
    for (float &value : x) {
      value = normal(random);
    }
    EXPECT_TRUE(activations.quantize(x.data(), k));
    EXPECT_TRUE(roundRowToHalf(x.data(), x.data(), t * k));
  }

  std::vector<int64_t> run(bool simd, bool &inRange) {
    const PackedView m = matrix.view();
    const A8View a = activations.view();
    std::vector<int64_t> acc(size_t(a.rows * stride()), kUntouched);
    for (int64_t t = 0; t < a.rows; ++t) {
      for (int64_t n = 0; n < m.rows; ++n) {
        acc[size_t(t * stride() + n)] = n * 1000 - t;
      }
    }
    const FloatView f{a.rows, a.k, x.data(), a.k};
    const bool isHalf = m.format == PackedFormat::Half;
    inRange =
        isHalf ? (simd ? gemvHalf : gemvHalfScalar)(m, f, acc.data(), stride())
               : (simd ? gemvExact : gemvScalar)(m, a, acc.data(), stride());
    return acc;
  }

  void expectEqualOnEveryTarget() {
    bool expectedInRange = false;
    const std::vector<int64_t> expected = run(false, expectedInRange);
    onEveryTarget([&] {
      bool inRange = false;
      EXPECT_EQ(run(true, inRange), expected);
      EXPECT_EQ(inRange, expectedInRange);
    });
  }

  int64_t stride() const { return matrix.view().rows + 3; }

  std::mt19937 random;
  PackedMatrix matrix;
  std::vector<float> x;
  A8Matrix activations;

private:
  static constexpr int64_t kUntouched = 0x5a5a5a5a5a5a5a5a;

  void fillRow(int64_t row, bool withMins, float unit) {
    const PackedView m = matrix.view();
    std::normal_distribution<float> normal(0, 1);
    const int range = m.format == PackedFormat::Q4 ? 16 : 256;
    for (int64_t i = 0; i < m.k; ++i) {
      if (m.format == PackedFormat::Half) {
        matrix.setHalf(row, i, floatToHalf(normal(random) * unit));
      } else {
        matrix.setCode(row, i, int(random() % unsigned(range)) - range / 2);
      }
    }
    if (m.format == PackedFormat::Half || m.format == PackedFormat::Codes8) {
      return;
    }
    for (int64_t b = 0; b < m.blocks(); ++b) {
      if (m.format == PackedFormat::Affine8) {
        matrix.setScale(row, b, normal(random) * unit);
      } else {
        matrix.setHalfScale(row, b, floatToHalf(normal(random) * unit));
      }
      if (withMins) {
        matrix.setMin(row, b, normal(random) * unit);
      }
    }
  }
};

constexpr PackedFormat kFormats[] = {PackedFormat::Q8, PackedFormat::Q4,
                                     PackedFormat::Codes8,
                                     PackedFormat::Affine8, PackedFormat::Half};

TEST(Gemv, EqualsTheDefinitionForAnyShape) {
  std::mt19937 shapes(99);
  for (int trial = 0; trial < 80; ++trial) {
    const PackedFormat format = kFormats[trial % 5];
    const int64_t rows = 1 + shapes() % 70;
    const int64_t k = 1 + shapes() % 300;
    const int64_t t = 1 + shapes() % 24;
    const int block = format == PackedFormat::Affine8 && trial % 2 ? 16 : 32;
    const bool mins = format == PackedFormat::Affine8 && trial % 3 != 0;
    SCOPED_TRACE(testing::Message()
                 << "seed " << trial << " format " << int(format) << " rows "
                 << rows << " k " << k << " t " << t);
    Problem(uint32_t(trial), format, rows, k, t, block, mins, 0.01f)
        .expectEqualOnEveryTarget();
  }
}

TEST(Gemv, EqualsTheDefinitionForNamedShapes) {
  for (PackedFormat format : kFormats) {
    for (int64_t k : {1, 8, 31, 32, 33, 64, 172, 256}) {
      for (int64_t rows : {1, 15, 16, 17, 48}) {
        SCOPED_TRACE(testing::Message() << int(format) << " k " << k);
        Problem(7, format, rows, k, 5, 32, false, 0.1f)
            .expectEqualOnEveryTarget();
      }
    }
  }
}

TEST(Gemv, LongReductionsCrossChunkBorders) {
  for (PackedFormat format : kFormats) {
    Problem(3, format, 3, 32 * 1024 + 32 * 5 + 7, 2, 32,
            format == PackedFormat::Affine8, 1e-3f)
        .expectEqualOnEveryTarget();
  }
}

/// Terms between 2^15 and 2^27 take the scalar path, alone or among small ones.
TEST(Gemv, LargeTermsAreRedoneExactly) {
  for (PackedFormat format : kFormats) {
    if (format == PackedFormat::Codes8) {
      continue;
    }
    for (float unit : {1.0f, 8.0f, 300.0f}) {
      Problem p(11, format, 33, 96, 6, 32, format == PackedFormat::Affine8,
                unit);
      p.x[5] = 30000.0f;
      ASSERT_TRUE(p.activations.quantize(p.x.data(), 96));
      p.expectEqualOnEveryTarget();
    }
  }
}

TEST(Gemv, OneLargeTermInOneRow) {
  Problem p(12, PackedFormat::Q8, 40, 128, 5, 32, false, 0.01f);
  p.matrix.setHalfScale(21, 2, floatToHalf(60000.0f));
  p.expectEqualOnEveryTarget();
}

TEST(Gemv, OverflowIsReportedOnEveryTarget) {
  Problem p(13, PackedFormat::Affine8, 20, 64, 2, 32, false, 0.01f);
  for (float bad : {1e12f, -1e12f, kInf, -kInf, kNan, 3e38f}) {
    p.matrix.setScale(17, 1, bad);
    bool scalar = true;
    const std::vector<int64_t> expected = p.run(false, scalar);
    EXPECT_FALSE(scalar) << bad;
    onEveryTarget([&] {
      bool simd = true;
      EXPECT_EQ(p.run(true, simd), expected) << bad;
      EXPECT_FALSE(simd) << bad;
    });
  }
}

TEST(Gemv, SubnormalAndExtremeScales) {
  Problem p(14, PackedFormat::Q8, 16, 64, 3, 32, false, 0.0f);
  // All kinds of f16 scales, subnormals, zeros and infinity-free extremes.
  const uint16_t scales[16] = {0x0001, 0x8001, 0x03ff, 0x0400, 0x0000, 0x8000,
                               0x7bff, 0xfbff, 0x3c00, 0x3555, 0x1400, 0x8400,
                               0x0200, 0x2e66, 0xae66, 0x5640};
  for (int row = 0; row < 16; ++row) {
    p.matrix.setHalfScale(row, 0, scales[row]);
    p.matrix.setHalfScale(row, 1, scales[15 - row]);
  }
  p.expectEqualOnEveryTarget();
  for (float &value : p.x) {
    value *= 1e-38f; // subnormal activations
  }
  ASSERT_TRUE(p.activations.quantize(p.x.data(), 64));
  p.expectEqualOnEveryTarget();
}

TEST(Gemv, TiesOfTheAccumulatorStep) {
  // isum = 1, 3, 5 ... with dw * dx = 2^-37: every odd product is a tie.
  PackedMatrix m(PackedFormat::Affine8, 16, 32);
  for (int row = 0; row < 16; ++row) {
    m.setCode(row, 0, 2 * row - 15);
    m.setScale(row, 0, 0x1p-37f);
  }
  const int8_t codes[32] = {1};
  const float one = 1.0f;
  const A8View x{1, 32, codes, 32, &one, 1};
  onEveryTarget([&] {
    int64_t acc[16] = {};
    ASSERT_TRUE(gemvExact(m.view(), x, acc, 16));
    for (int row = 0; row < 16; ++row) {
      EXPECT_EQ(acc[row], std::llrint((2 * row - 15) / 2.0));
    }
  });
}

/// Garbage codes and NaN scales outside [rows, k] must not show.
TEST(Gemv, PoisonedPaddingDoesNotShow) {
  for (PackedFormat format : {PackedFormat::Q8, PackedFormat::Q4,
                              PackedFormat::Affine8, PackedFormat::Half}) {
    SCOPED_TRACE(int(format));
    const bool isHalf = format == PackedFormat::Half;
    // A 19 x 45 problem inside a larger matrix whose other elements are poison.
    Problem p(15, format, 32, 64, 3, 32, format == PackedFormat::Affine8, 0.1f);
    for (int row = 19; row < 32; ++row) {
      for (int b = 0; b < 2 && !isHalf; ++b) {
        format == PackedFormat::Affine8 ? p.matrix.setScale(row, b, kNan)
                                        : p.matrix.setHalfScale(row, b, 0x7e00);
      }
      for (int i = 0; i < 64 && isHalf; ++i) {
        p.matrix.setHalf(row, i, 0x7e00);
      }
    }
    for (int row = 0; row < 32 && isHalf; ++row) {
      for (int i = 45; i < 64; ++i) {
        p.matrix.setHalf(row, i, 0x7e00);
      }
    }
    const PackedView part = p.matrix.view().slice(0, 19, 0, 45);
    const A8View a = p.activations.view().sliceK(0, 45);
    const FloatView f{3, 45, p.x.data(), 64};
    std::vector<int64_t> expected(3 * 20);
    EXPECT_TRUE(isHalf ? gemvHalfScalar(part, f, expected.data(), 20)
                       : gemvScalar(part, a, expected.data(), 20));
    onEveryTarget([&] {
      std::vector<int64_t> acc(3 * 20);
      EXPECT_TRUE(isHalf ? gemvHalf(part, f, acc.data(), 20)
                         : gemvExact(part, a, acc.data(), 20));
      EXPECT_EQ(acc, expected);
    });
  }
}

TEST(Gemv, SplitsOfRowsAndKAreBitNeutral) {
  for (PackedFormat format : kFormats) {
    SCOPED_TRACE(int(format));
    const bool isHalf = format == PackedFormat::Half;
    Problem p(16, format, 50, 200, 7, 32, false, 0.05f);
    bool inRange = false;
    const PackedView m = p.matrix.view();
    const A8View a = p.activations.view();
    std::vector<int64_t> whole(7 * 50);
    std::vector<int64_t> parts(7 * 50);
    const auto run = [&](const PackedView &w, int64_t k0, int64_t k, int64_t t,
                         int64_t count, int64_t *acc) {
      const FloatView f{count, k, p.x.data() + t * 200 + k0, 200};
      inRange =
          isHalf ? gemvHalf(w, f, acc, 50)
                 : gemvExact(w, a.sliceK(k0, k).sliceRows(t, count), acc, 50);
      EXPECT_TRUE(inRange);
    };
    run(m, 0, 200, 0, 7, whole.data());
    const int64_t cuts[] = {160, 96, 32, 0}; // K tiles in descending order
    int64_t end = 200;
    for (int64_t k0 : cuts) {
      for (int64_t t = 0; t < 7; ++t) {
        run(m.slice(0, 32, k0, end - k0), k0, end - k0, t, 1, &parts[t * 50]);
        run(m.slice(32, 18, k0, end - k0), k0, end - k0, t, 1,
            &parts[t * 50 + 32]);
      }
      end = k0;
    }
    EXPECT_EQ(parts, whole);
  }
}

TEST(Gemv, HalfScalesConvertExactlyOnEveryTarget) {
  // Unit dot product: the accumulator shows the scale itself.
  PackedMatrix m(PackedFormat::Q8, 16, 32);
  for (int row = 0; row < 16; ++row) {
    m.setCode(row, 0, 1);
  }
  const int8_t codes[32] = {1};
  const float one = 1.0f;
  const A8View x{1, 32, codes, 32, &one, 1};
  onEveryTarget([&] {
    for (uint32_t h = 0; h < 0x10000; h += 16) {
      for (int row = 0; row < 16; ++row) {
        m.setHalfScale(row, 0, uint16_t(h + uint32_t(row)));
      }
      int64_t acc[16] = {};
      const bool inRange = gemvExact(m.view(), x, acc, 16);
      ASSERT_EQ(inRange, (h & 0x7c00) != 0x7c00) << h;
      for (int row = 0; row < 16; ++row) {
        const float d = halfToFloat(uint16_t(h + uint32_t(row)));
        ASSERT_EQ(acc[row], floatTerm(d)) << h + uint32_t(row);
      }
    }
  });
}

TEST(PackedMatrix, PackingRoundTrips) {
  std::mt19937 random(21);
  const int64_t rows = 19;
  const int64_t k = 45;
  std::vector<int8_t> codes(rows * k);
  std::vector<uint8_t> nibbles(rows * k);
  std::vector<uint16_t> halves(rows * k);
  for (size_t i = 0; i < codes.size(); ++i) {
    codes[i] = int8_t(random());
    nibbles[i] = random() & 15;
    halves[i] = uint16_t(random());
  }
  const std::vector<uint16_t> scales(halves.begin(), halves.begin() + rows * 2);
  std::vector<float> floats(rows * 3);
  for (float &f : floats) {
    f = float(random());
  }
  const PackedMatrix q8 =
      PackedMatrix::packQ8(rows, k, codes.data(), scales.data());
  const PackedMatrix q4 =
      PackedMatrix::packQ4(rows, k, nibbles.data(), scales.data());
  const PackedMatrix c8 = PackedMatrix::packCodes8(rows, k, codes.data());
  const PackedMatrix affine = PackedMatrix::packAffine8(
      rows, k, 16, codes.data(), floats.data(), floats.data());
  const PackedMatrix half = PackedMatrix::packHalf(rows, k, halves.data());
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      const size_t at = size_t(row * k + i);
      ASSERT_EQ(q8.view().code(row, i), codes[at]);
      ASSERT_EQ(q4.view().code(row, i), int(nibbles[at]) - 8);
      ASSERT_EQ(c8.view().code(row, i), codes[at]);
      ASSERT_EQ(affine.view().code(row, i), codes[at]);
      ASSERT_EQ(half.view().half(row, i), halves[at]);
    }
    ASSERT_EQ(affine.view().min(row, 2), floats[size_t(row * 3 + 2)]);
    ASSERT_EQ(affine.view().scale(row, 1), floats[size_t(row * 3 + 1)]);
  }
  EXPECT_EQ(q4.bytes(), 2 * (2 * 256 + 2 * 32)) << "4 bits stay 4 bits";
}

TEST(Gemv, EmptyMatrices) {
  const PackedMatrix none(PackedFormat::Q8, 0, 32);
  const PackedMatrix flat(PackedFormat::Q8, 4, 0);
  const A8Matrix x(1, 32);
  const A8Matrix noK(1, 0);
  int64_t acc[4] = {1, 2, 3, 4};
  EXPECT_TRUE(gemvExact(none.view(), x.view(), acc, 4));
  EXPECT_TRUE(gemvExact(flat.view(), noK.view(), acc, 4));
  EXPECT_EQ(acc[3], 4);
}

TEST(ReadAccumulators, ReportsSaturation) {
  const int64_t good[2] = {int64_t(1) << 36, -(int64_t(1) << 35)};
  float y[2];
  EXPECT_TRUE(readAccumulators(good, 2, y));
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_EQ(y[1], -0.5f);
  const int64_t bad[2] = {0, kTermOverflowHigh};
  EXPECT_FALSE(readAccumulators(bad, 2, y));
}

//===-- Row operations ----------------------------------------------------===//

/// Inputs that meet every branch: a grid, specials, then random bit patterns.
std::vector<float> interestingFloats() {
  std::vector<float> x = {0.0f,    -0.0f,  0x1p-149f, -87.0f, 88.0f, 0.625f,
                          -0.625f, 1e-30f, -1e30f,    kInf,   -kInf, 1e30f};
  for (float border : {-87.0f, 88.0f, 0.625f}) {
    x.push_back(std::nextafterf(border, kInf));
    x.push_back(std::nextafterf(border, -kInf));
  }
  for (int i = -90 * 64; i <= 90 * 64; ++i) {
    x.push_back(float(i) / 64.0f);
  }
  std::mt19937 random(31);
  while (x.size() < 20003) {
    const float value = bitsToFloat(uint32_t(random()));
    if (value == value) {
      x.push_back(value);
    }
  }
  return x;
}

void expectSameBits(const std::vector<float> &a, const std::vector<float> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == a[i] || b[i] == b[i]) { // NaN payloads are free
      ASSERT_EQ(floatToBits(a[i]), floatToBits(b[i])) << "element " << i;
    }
  }
}

TEST(Rows, ExponentialFamilyEqualsTheDefinitions) {
  const std::vector<float> x = interestingFloats();
  const std::vector<float> u(x.rbegin(), x.rend());
  const int64_t n = int64_t(x.size());
  std::vector<float> e(x.size());
  std::vector<float> s(x.size());
  std::vector<float> g(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    e[i] = expExact(x[i] - 0.375f);
    s[i] = silu(x[i]) * u[i];
    g[i] = gelu(x[i]) * u[i];
  }
  onEveryTarget([&] {
    std::vector<float> y(x.size());
    expRow(x.data(), 0.375f, y.data(), n);
    expectSameBits(y, e);
    siluMulRow(x.data(), u.data(), y.data(), n);
    expectSameBits(y, s);
    geluMulRow(x.data(), u.data(), y.data(), n);
    expectSameBits(y, g);
    y = x;
    expRow(y.data(), 0.375f, y.data(), n); // in place
    expectSameBits(y, e);
    y.assign(3, kNan);
    y.resize(40, 1.0f);
    expRow(y.data(), 0.0f, y.data(), 40);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], expExact(1.0f));
  });
}

TEST(Rows, QuantizerEqualsTheDefinition) {
  std::mt19937 random(41);
  std::normal_distribution<float> normal(0, 1);
  for (int64_t n : {1, 31, 32, 33, 64, 172, 1000}) {
    std::vector<float> x(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = normal(random) * std::ldexp(1.0f, int(i / 32 % 30) * 9 - 149);
    }
    if (n >= 64) {
      std::fill(x.begin(), x.begin() + 32, -0.0f);
      x[40] = 127.0f; // ties in block 1
      for (size_t i = 41; i < 64; ++i) {
        x[i] = float(i) - 50.5f;
      }
    }
    const size_t blocks = size_t(n + 31) / 32;
    std::vector<int8_t> expected(blocks * 32);
    std::vector<float> scales(blocks);
    for (size_t b = 0; b < blocks; ++b) {
      const int count = int(std::min<int64_t>(32, n - int64_t(b) * 32));
      ASSERT_TRUE(
          quantizeA8Block(&x[b * 32], count, &expected[b * 32], &scales[b]));
    }
    onEveryTarget([&] {
      std::vector<int8_t> q(blocks * 32, 99);
      std::vector<float> d(blocks, kNan);
      EXPECT_TRUE(quantizeA8Row(x.data(), n, q.data(), d.data()));
      EXPECT_EQ(q, expected);
      expectSameBits(d, scales);
      std::vector<float> broken = x;
      broken.back() = kInf;
      EXPECT_FALSE(quantizeA8Row(broken.data(), n, q.data(), d.data()));
      EXPECT_TRUE(std::isnan(d.back()));
    });
  }
}

TEST(Rows, ExactSumEqualsTheDefinition) {
  std::mt19937 random(61);
  std::normal_distribution<float> normal(0, 1);
  for (size_t n : {0, 1, 15, 16, 17, 100, 2048, 2049, 5000}) {
    for (float odd : {0.5f, 40000.0f, -1e7f, 1e9f, kNan}) {
      std::vector<float> x(n);
      int64_t expected = -5;
      bool expectedInRange = true;
      for (size_t i = 0; i < n; ++i) {
        x[i] = i == n / 3 ? odd : normal(random) * 0x1p-30f;
        expectedInRange &= accumulate(expected, floatTerm(x[i]));
      }
      onEveryTarget([&] {
        int64_t acc = -5;
        EXPECT_EQ(sumExact(x.data(), int64_t(n), acc), expectedInRange);
        EXPECT_EQ(acc, expected) << n << " with " << odd;
      });
    }
  }
}

TEST(Rows, ReductionsAndSoftmax) {
  const float s[5] = {1.0f, -200.0f, 3.0f, 3.0f, 0.5f};
  EXPECT_EQ(maxRow(s, 5), 3.0f);
  EXPECT_EQ(maxRow(s, 0), -kInf);
  const float zeros[2] = {-0.0f, -0.0f};
  EXPECT_FALSE(std::signbit(maxRow(zeros, 2)));
  float p[5];
  int64_t z = 0;
  ASSERT_TRUE(softmaxRow(s, p, 5, z));
  EXPECT_EQ(p[1], 0.0f);
  EXPECT_EQ(p[2], 1.0f);
  EXPECT_EQ(z, floatTerm(p[0]) + floatTerm(p[2]) + floatTerm(p[3]) +
                   floatTerm(p[4]));
  const float broken[2] = {1.0f, kNan};
  EXPECT_FALSE(softmaxRow(broken, p, 2, z));
  EXPECT_FALSE(softmaxRow(s, p, 0, z));
}

TEST(Rows, Norms) {
  std::mt19937 random(51);
  std::normal_distribution<float> normal(1, 2);
  const int n = 172;
  std::vector<float> x(n);
  std::vector<float> w(n);
  for (int i = 0; i < n; ++i) {
    x[size_t(i)] = normal(random);
    w[size_t(i)] = normal(random);
  }
  double squares = 0;
  double total = 0;
  for (float v : x) {
    squares += double(v) * v;
    total += v;
  }
  std::vector<float> y(n);
  ASSERT_TRUE(rmsNormRow(x.data(), w.data(), y.data(), n, 1e-5f));
  EXPECT_NEAR(y[9], x[9] / std::sqrt(squares / n + 1e-5) * w[9], 1e-5);
  ASSERT_TRUE(layerNormRow(x.data(), w.data(), w.data(), y.data(), n, 1e-5f));
  const double mean = total / n;
  const double variance = squares / n - mean * mean;
  EXPECT_NEAR(y[9], (x[9] - mean) / std::sqrt(variance + 1e-5) * w[9] + w[9],
              1e-5);
  x[3] = 1e30f; // its square overflows: reported, not a row of zeros
  EXPECT_FALSE(rmsNormRow(x.data(), w.data(), y.data(), n, 1e-5f));
}

TEST(Rows, RopeLayouts) {
  const float c[2] = {0.5f, 0.25f};
  const float s[2] = {0.125f, -1.0f};
  float interleaved[5] = {1, 2, 3, 4, 9};
  float halves[5] = {1, 3, 2, 4, 9};
  ropeRow(interleaved, 4, c, s, RopePairs::Interleaved);
  ropeRow(halves, 4, c, s, RopePairs::Halves);
  EXPECT_EQ(interleaved[0], 1 * 0.5f - 2 * 0.125f);
  EXPECT_EQ(interleaved[1], 1 * 0.125f + 2 * 0.5f);
  EXPECT_EQ(interleaved[0], halves[0]);
  EXPECT_EQ(interleaved[1], halves[2]);
  EXPECT_EQ(interleaved[2], halves[1]);
  EXPECT_EQ(interleaved[3], halves[3]);
  EXPECT_EQ(interleaved[4], 9);
}

} // namespace
} // namespace orrery::numerics
