// The scalar definitions of machine/numerics.h against independent references:
// exhaustive where the domain is small, seeded properties elsewhere.

#include "machine/numerics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace orrery::numerics {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

//===-- Half precision ----------------------------------------------------===//

/// The value of a finite half, from the definition of the format.
double halfReference(uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const double mantissa = h & 1023;
  const double magnitude = exponent == 0
                               ? std::ldexp(mantissa, -24)
                               : std::ldexp(1024 + mantissa, exponent - 25);
  return (h & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Half, EveryValueToFloatAndBack) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const uint16_t half = uint16_t(h);
    const float value = halfToFloat(half);
    if ((h & 0x7c00) == 0x7c00) {
      const bool isNan = (h & 0x3ff) != 0;
      ASSERT_EQ(std::isnan(value), isNan);
      ASSERT_EQ(std::isinf(value), !isNan);
      ASSERT_EQ(std::signbit(value), h >= 0x8000);
      ASSERT_EQ(floatToHalf(value), isNan ? half | 0x200 : half);
      continue;
    }
    ASSERT_EQ(double(value), halfReference(half)) << h;
    ASSERT_EQ(std::signbit(value), h >= 0x8000) << h;
    ASSERT_EQ(floatToHalf(value), half) << h;
  }
}

TEST(Half, RoundsToNearestEvenBetweenAllNeighbours) {
  for (uint16_t h = 0; h < 0x7c00; ++h) {
    const float low = halfToFloat(h);
    const bool last = h == 0x7bff;
    const float high = last ? 65536.0f : halfToFloat(uint16_t(h + 1));
    const float middle = float((double(low) + double(high)) / 2); // exact
    const uint16_t even = (h & 1) != 0 ? uint16_t(h + 1) : h;
    ASSERT_EQ(floatToHalf(middle), even) << h;
    ASSERT_EQ(floatToHalf(std::nextafterf(middle, 0)), h) << h;
    ASSERT_EQ(floatToHalf(std::nextafterf(middle, kInf)), h + 1) << h;
    ASSERT_EQ(floatToHalf(-middle), even | 0x8000) << h;
  }
}

TEST(Half, Extremes) {
  EXPECT_EQ(floatToHalf(kInf), 0x7c00);
  EXPECT_EQ(floatToHalf(-kInf), 0xfc00);
  EXPECT_EQ(floatToHalf(65519.996f), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(floatToHalf(3.4e38f), 0x7c00);
  EXPECT_EQ(floatToHalf(-0.0f), 0x8000);
  EXPECT_EQ(floatToHalf(0x1p-149f), 0);
  EXPECT_EQ(floatToHalf(0x1p-25f), 0) << "tie between 0 and 2^-24";
  EXPECT_EQ(floatToHalf(0x1.8p-24f), 2) << "tie between 2^-24 and 2^-23";
  EXPECT_EQ(floatToHalf(kNan) & 0x7c00, 0x7c00);
  EXPECT_NE(floatToHalf(kNan) & 0x3ff, 0);
  // A NaN whose payload lies below the half's bits must not become infinity.
  EXPECT_NE(floatToHalf(bitsToFloat(0x7f800001u)) & 0x3ff, 0);
}

TEST(Bfloat, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(bfloatToFloat(0x3f80), 1.0f);
  EXPECT_EQ(bfloatToFloat(0xc000), -2.0f);
  EXPECT_EQ(bfloatToFloat(0x0001), 0x1p-133f);
  EXPECT_EQ(bfloatToFloat(0xff80), -kInf);
}

//===-- Exponential family ------------------------------------------------===//

/// Error of `value` in units of the last place of the true result.
double ulpError(float value, long double exact) {
  const int exponent = std::max(std::ilogb(double(exact)), -126);
  return double(std::fabs(value - exact) / std::ldexp(1.0L, exponent - 23));
}

TEST(Exp, WithinTwoUlpOverADenseGrid) {
  double worst = 0;
  float worstAt = 0;
  // Every 3001st float of both signs: all binades, dense near the ends.
  for (uint32_t bits = 0; bits < 0x42b00001u; bits += 3001) {
    for (float x : {bitsToFloat(bits), -bitsToFloat(bits)}) {
      if (x < -87.0f || x > 88.0f) {
        continue;
      }
      const double error = ulpError(expExact(x), std::exp((long double)x));
      worstAt = error > worst ? x : worstAt;
      worst = std::max(worst, error);
    }
  }
  for (int i = -87 * 4096; i <= 88 * 4096; ++i) {
    const float x = float(i) / 4096.0f;
    const double error = ulpError(expExact(x), std::exp((long double)x));
    worstAt = error > worst ? x : worstAt;
    worst = std::max(worst, error);
  }
  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_LE(worst, 2.0) << "at x = " << worstAt;
  EXPECT_LE(worst, 1.0) << "better than promised so far; at " << worstAt;
}

TEST(Exp, Borders) {
  EXPECT_EQ(expExact(0.0f), 1.0f);
  EXPECT_EQ(expExact(-0.0f), 1.0f);
  EXPECT_GT(expExact(-87.0f), 0x1p-126f) << "never subnormal";
  EXPECT_EQ(expExact(std::nextafterf(-87.0f, -kInf)), 0.0f);
  EXPECT_LT(expExact(88.0f), kInf);
  EXPECT_EQ(expExact(std::nextafterf(88.0f, kInf)), kInf);
  EXPECT_EQ(expExact(-kInf), 0.0f);
  EXPECT_EQ(expExact(kInf), kInf);
  EXPECT_TRUE(std::isnan(expExact(kNan)));
  EXPECT_EQ(expExact(0x1p-149f), 1.0f);
}

TEST(Activation, CloseToTheFunctionsAndOdd) {
  for (int i = -12 * 2048; i <= 12 * 2048; ++i) {
    const float x = float(i) / 2048.0f;
    const double d = x;
    ASSERT_LE(ulpError(tanhExact(x), std::tanh((long double)x)), 3.0) << x;
    ASSERT_EQ(tanhExact(-x), -tanhExact(x)) << x;
    ASSERT_NEAR(silu(x), d / (1 + std::exp(-d)), 3e-7 * (1 + std::fabs(d)));
    const double inner = std::sqrt(2 / M_PI) * (d + 0.044715 * d * d * d);
    ASSERT_NEAR(gelu(x), 0.5 * d * (1 + std::tanh(inner)),
                3e-7 * (1 + std::fabs(d)));
  }
  EXPECT_TRUE(std::signbit(tanhExact(-0.0f)));
  EXPECT_EQ(tanhExact(kInf), 1.0f);
  EXPECT_EQ(tanhExact(-100.0f), -1.0f);
  EXPECT_EQ(silu(-100.0f), 0.0f);
  EXPECT_EQ(silu(200.0f), 200.0f);
  EXPECT_TRUE(std::isnan(tanhExact(kNan)));
  EXPECT_TRUE(std::isnan(silu(kNan)));
}

//===-- Exact accumulator -------------------------------------------------===//

TEST(ExactTerm, TiesGoToEven) {
  EXPECT_EQ(floatTerm(0x1p-37f), 0);
  EXPECT_EQ(floatTerm(0x1.8p-36f), 2);
  EXPECT_EQ(floatTerm(0x1.4p-35f), 2);
  EXPECT_EQ(floatTerm(-0x1p-37f), 0);
  EXPECT_EQ(floatTerm(-0x1.8p-36f), -2);
  EXPECT_EQ(floatTerm(0x1.000002p-37f), 1);
  EXPECT_EQ(floatTerm(-0.0f), 0);
  EXPECT_EQ(floatTerm(0x1p-149f), 0);
  EXPECT_EQ(floatTerm(1.0f), int64_t(1) << 36);
}

TEST(ExactTerm, SaturatesInsteadOfWrapping) {
  const float below = std::nextafterf(0x1p27f, 0);
  EXPECT_EQ(floatTerm(below), int64_t(below) << 36);
  EXPECT_EQ(floatTerm(-below), -(int64_t(below) << 36));
  EXPECT_EQ(floatTerm(0x1p27f), kTermOverflowHigh);
  EXPECT_EQ(floatTerm(-0x1p27f), kTermOverflowLow);
  EXPECT_EQ(floatTerm(kInf), kTermOverflowHigh);
  EXPECT_EQ(floatTerm(-kInf), kTermOverflowLow);
  EXPECT_EQ(floatTerm(3e38f), kTermOverflowHigh);
  EXPECT_EQ(floatTerm(kNan), kTermOverflowLow);
}

TEST(ExactTerm, MultipliesTheScalesFirst) {
  // (isum * dw) * dx would round differently here.
  const float dw = 0x1.000006p-8f;
  const float dx = 0x1.6db6dcp-3f;
  const float scale = dw * dx;
  EXPECT_EQ(blockTerm(77777, dw, dx), floatTerm(77777.0f * scale));
  EXPECT_NE(blockTerm(77777, dw, dx), floatTerm((77777.0f * dw) * dx));
  EXPECT_EQ(minTerm(-300, dw, dx), blockTerm(-300, dw, dx));
  EXPECT_EQ(blockTerm(1000, 0x1p-24f, 0x1p-130f), 0) << "subnormal product";
  EXPECT_EQ(halfTerm(3.0f, -0.5f), -(int64_t(3) << 35));
}

TEST(ExactAccumulator, SumDoesNotDependOnOrderOrGrouping) {
  const uint32_t seed = 20240611;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> exponent(-40, 10);
  std::vector<int64_t> terms;
  for (int i = 0; i < 4096; ++i) {
    const float magnitude = std::exp2(exponent(random));
    terms.push_back(floatTerm((random() & 1) != 0 ? magnitude : -magnitude));
  }
  int64_t expected = 0;
  for (int64_t term : terms) {
    ASSERT_TRUE(accumulate(expected, term));
  }
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(terms.begin(), terms.end(), random);
    int64_t total = 0;
    for (size_t i = 0; i < terms.size();) {
      int64_t part = 0;
      const size_t end = std::min(terms.size(), i + 1 + random() % 500);
      for (; i < end; ++i) {
        ASSERT_TRUE(accumulate(part, terms[i]));
      }
      ASSERT_TRUE(accumulate(total, part));
    }
    ASSERT_EQ(total, expected);
  }
}

TEST(ExactAccumulator, ReportsWhatDoesNotFit) {
  int64_t acc = floatTerm(0x1.8p26f);
  EXPECT_FALSE(accumulate(acc, floatTerm(0x1.8p26f)));
  acc = floatTerm(-0x1.8p26f);
  EXPECT_FALSE(accumulate(acc, floatTerm(-0x1.8p26f)));
  acc = 0;
  EXPECT_FALSE(accumulate(acc, floatTerm(kNan)));
  EXPECT_FALSE(accumulatorInRange(acc));
  acc = 5;
  EXPECT_FALSE(accumulate(acc, floatTerm(kInf)));
  EXPECT_TRUE(accumulatorInRange(floatTerm(0x1.fffffep26f)));
}

TEST(ExactAccumulator, ReadsOutNearestEven) {
  const int64_t one = int64_t(1) << 36;
  EXPECT_EQ(readAccumulator(one), 1.0f);
  EXPECT_EQ(readAccumulator(-3 * one / 2), -1.5f);
  EXPECT_EQ(readAccumulator(1), 0x1p-36f);
  EXPECT_EQ(readAccumulator((1 << 24) + 1), 0x1p-12f) << "tie, even below";
  EXPECT_EQ(readAccumulator((1 << 24) + 3), 0x1.000004p-12f) << "tie, up";
  EXPECT_EQ(readAccumulator((1ll << 40) + (1 << 16) + 1), 0x1.000002p4f);
  EXPECT_EQ(readAccumulator(0), 0.0f);
  EXPECT_FALSE(std::signbit(readAccumulator(0)));
}

//===-- Wide accumulator --------------------------------------------------===//

TEST(WideAccumulator, RoundsEachTermOnceToEven) {
  const auto sumOf = [](float x) {
    WideAccumulator acc;
    acc.add(x);
    return int64_t(acc.sum);
  };
  EXPECT_EQ(sumOf(0x1p-65f), 0) << "tie";
  EXPECT_EQ(sumOf(0x1.8p-64f), 2) << "tie";
  EXPECT_EQ(sumOf(0x1.4p-63f), 2) << "tie";
  EXPECT_EQ(sumOf(std::nextafterf(0x1p-65f, 1)), 1);
  EXPECT_EQ(sumOf(std::nextafterf(0x1p-65f, 0)), 0);
  EXPECT_EQ(sumOf(-0x1.8p-64f), -2);
  EXPECT_EQ(sumOf(0x1p-149f), 0);
  EXPECT_EQ(sumOf(0x1p-41f), 1 << 23);
}

TEST(WideAccumulator, ReadsEveryMagnitudeBack) {
  for (int exponent = -64; exponent < 63; ++exponent) {
    for (float mantissa : {1.0f, 1.5f, -1.0f, 0x1.fffffep0f}) {
      const float x = std::ldexp(mantissa, exponent);
      WideAccumulator acc;
      acc.add(x);
      if (exponent >= -41) { // all 24 bits lie at or above 2^-64
        ASSERT_EQ(acc.read(), x);
      }
      ASSERT_FALSE(acc.saturated);
    }
  }
  EXPECT_EQ(WideAccumulator().read(), 0.0f);
}

TEST(WideAccumulator, ReadRoundsOnceNearestEven) {
  const auto read = [](std::initializer_list<float> terms) {
    WideAccumulator acc;
    for (float x : terms) {
      acc.add(x);
    }
    return acc.read();
  };
  EXPECT_EQ(read({0x1p40f, 0x1p16f}), 0x1p40f) << "tie";
  EXPECT_EQ(read({0x1p40f, 0x1p16f, 0x1p-64f}), 0x1.000002p40f) << "sticky";
  EXPECT_EQ(read({0x1p40f, 0x1p17f, 0x1p16f}), 0x1.000004p40f) << "tie, up";
  EXPECT_EQ(read({-0x1p40f, -0x1p16f, -0x1p-64f}), -0x1.000002p40f);
  EXPECT_EQ(read({0x1p40f, 0x1p16f, -0x1p-64f}), 0x1p40f);
  EXPECT_EQ(read({0x1p62f, -0x1p62f, 0x1p-64f}), 0x1p-64f);
}

TEST(WideAccumulator, SaturatesForGood) {
  for (float x : {0x1p63f, -0x1p63f, 3e38f, kInf, -kInf, kNan}) {
    WideAccumulator acc;
    acc.add(x);
    EXPECT_TRUE(acc.saturated) << x;
    acc.add(1.0f);
    EXPECT_TRUE(std::isnan(acc.read())) << x;
  }
  WideAccumulator sum;
  sum.add(0x1p62f);
  EXPECT_FALSE(sum.saturated);
  sum.add(0x1p62f);
  EXPECT_TRUE(sum.saturated);
}

TEST(WideAccumulator, OrderFreeAndCloseToLongDouble) {
  const uint32_t seed = 77;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 100);
  std::vector<float> terms(5000);
  long double exact = 0;
  for (float &x : terms) {
    x = normal(random);
    exact += x;
  }
  WideAccumulator forward;
  for (float x : terms) {
    forward.add(x);
  }
  EXPECT_EQ(forward.read(), float(exact)); // 64 bits suffice for these terms
  std::shuffle(terms.begin(), terms.end(), random);
  WideAccumulator first;
  WideAccumulator second;
  for (size_t i = 0; i < terms.size(); ++i) {
    (i < 1234 ? first : second).add(terms[i]);
  }
  first.add(second);
  EXPECT_TRUE(first.sum == forward.sum);
}

//===-- Quantization ------------------------------------------------------===//

TEST(QuantizeA8, FollowsTheRule) {
  const uint32_t seed = 5;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  for (int trial = 0; trial < 500; ++trial) {
    const int n = 1 + int(random() % 32);
    const float unit = std::ldexp(1.0f, int(random() % 200) - 120);
    float x[32];
    float amax = 0;
    for (int i = 0; i < n; ++i) {
      x[i] = normal(random) * unit;
      amax = std::max(amax, std::fabs(x[i]));
    }
    std::fill(x + n, x + 32, kNan); // must not be read
    int8_t q[32];
    float d = -1;
    ASSERT_TRUE(quantizeA8Block(x, n, q, &d));
    ASSERT_EQ(d, amax / 127.0f);
    const float id = 127.0f / amax;
    int codeMax = 0;
    for (int i = 0; i < 32; ++i) {
      const float expected = i < n ? std::nearbyint(x[i] * id) : 0.0f;
      ASSERT_EQ(float(q[i]), expected);
      codeMax = std::max(codeMax, std::abs(int(q[i])));
    }
    ASSERT_EQ(codeMax, 127);
  }
}

TEST(QuantizeA8, TiesAndZeros) {
  float x[32] = {127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -0.0f, 126.5f};
  int8_t q[32];
  float d = 0;
  ASSERT_TRUE(quantizeA8Block(x, 32, q, &d));
  EXPECT_EQ(d, 1.0f);
  const int8_t expected[8] = {127, 0, 2, 2, 0, -2, 0, 126};
  EXPECT_TRUE(std::equal(expected, expected + 8, q));

  const float zeros[3] = {0.0f, -0.0f, 0.0f};
  ASSERT_TRUE(quantizeA8Block(zeros, 3, q, &d));
  EXPECT_EQ(d, 0.0f);
  EXPECT_FALSE(std::signbit(d));
  EXPECT_TRUE(std::all_of(q, q + 32, [](int8_t c) { return c == 0; }));
}

TEST(QuantizeA8, TinyAndBrokenInputs) {
  int8_t q[32];
  float d = 0;
  const float tiny[4] = {0x1p-149f, -0x1p-149f, 0.0f, 0x1p-130f};
  ASSERT_TRUE(quantizeA8Block(tiny, 4, q, &d)); // 127/amax is infinite
  EXPECT_EQ(q[0], 127);
  EXPECT_EQ(q[1], -127);
  EXPECT_EQ(q[2], 0);
  EXPECT_EQ(q[3], 127);
  for (float bad : {kNan, kInf, -kInf}) {
    const float x[3] = {1.0f, bad, 2.0f};
    EXPECT_FALSE(quantizeA8Block(x, 3, q, &d));
    EXPECT_TRUE(std::isnan(d));
    EXPECT_EQ(q[0], 0);
  }
}

TEST(QuantizeKv, UsesTheRoundedScale) {
  int8_t q[4];
  uint16_t d = 0;
  const float x[4] = {1.0f, -0.3f, 0.007f, -1.0f};
  ASSERT_TRUE(quantizeKvRow(x, 4, q, &d));
  EXPECT_EQ(d, floatToHalf(1.0f / 127.0f));
  for (int i = 0; i < 4; ++i) {
    const float code = std::nearbyint(x[i] / halfToFloat(d));
    EXPECT_EQ(float(q[i]), std::clamp(code, -127.0f, 127.0f));
  }
  // A scale that rounds down by much: 127.x codes are clamped.
  const float small[2] = {127.0f * 0x1.7p-24f, -127.0f * 0x1.7p-24f};
  ASSERT_TRUE(quantizeKvRow(small, 2, q, &d));
  EXPECT_EQ(d, 1);
  EXPECT_EQ(q[0], 127);
  EXPECT_EQ(q[1], -127);
  const float vanishing[2] = {1e-7f, -1e-7f};
  ASSERT_TRUE(quantizeKvRow(vanishing, 2, q, &d));
  EXPECT_EQ(d, 0);
  EXPECT_EQ(q[0], 0);
  const float huge[2] = {1e9f, 0.0f};
  EXPECT_FALSE(quantizeKvRow(huge, 2, q, &d)) << "scale above f16";
  EXPECT_TRUE(std::isnan(halfToFloat(d)));
}

TEST(QuantizeKv, FourBits) {
  int8_t q[4];
  uint16_t d = 0;
  const float x[4] = {1.0f, -0.3f, 0.08f, -1.0f};
  ASSERT_TRUE(quantizeKvRow4(x, 4, q, &d));
  EXPECT_EQ(d, floatToHalf(1.0f / 7.0f));
  const int8_t expected[4] = {7, -2, 1, -7};
  EXPECT_TRUE(std::equal(q, q + 4, expected));
  // As for q8: clamped after a scale that rounds down by much, zeros under a
  // scale of 0, refused over one that f16 does not have.
  const float small[2] = {7.0f * 0x1.7p-24f, -7.0f * 0x1.7p-24f};
  ASSERT_TRUE(quantizeKvRow4(small, 2, q, &d));
  EXPECT_EQ(d, 1);
  EXPECT_EQ(q[0], 7);
  EXPECT_EQ(q[1], -7);
  const float vanishing[2] = {1e-8f, -1e-8f};
  ASSERT_TRUE(quantizeKvRow4(vanishing, 2, q, &d));
  EXPECT_EQ(d, 0);
  EXPECT_EQ(q[0], 0);
  for (float bad : {1e6f, kInf, kNan}) {
    const float refused[2] = {bad, 1.0f};
    EXPECT_FALSE(quantizeKvRow4(refused, 2, q, &d)) << bad;
    EXPECT_TRUE(std::isnan(halfToFloat(d)));
    EXPECT_EQ(q[1], 0);
  }
}

//===-- Rope, argmax, random numbers --------------------------------------===//

TEST(Rope, TableIsTheRoundedDoubleFunction) {
  const std::vector<double> frequencies = ropeFrequencies(6, 10000.0);
  ASSERT_EQ(frequencies.size(), 3u);
  EXPECT_EQ(frequencies[0], 1.0);
  const RopeTable table = ropeTable(frequencies, 7, 3);
  ASSERT_EQ(table.cos.size(), 9u);
  const double angle = 8 * std::pow(10000.0, -2.0 / 6);
  EXPECT_EQ(table.cos[3 + 1], float(std::cos(angle)));
  EXPECT_EQ(table.sin[3 + 1], float(std::sin(angle)));
  float x0 = 3;
  float x1 = 5;
  ropePair(x0, x1, 0.6f, 0.8f);
  const float a = 3 * 0.6f;
  const float b = 5 * 0.8f;
  const float c = 3 * 0.8f;
  const float e = 5 * 0.6f;
  EXPECT_EQ(x0, a - b);
  EXPECT_EQ(x1, c + e);
}

TEST(Argmax, LowestIndexAndNoNan) {
  const float ties[5] = {-1, 4, 4, 2, 4};
  EXPECT_EQ(argmax(ties, 5), 1);
  const float zeros[3] = {-0.0f, 0.0f, -0.0f};
  EXPECT_EQ(argmax(zeros, 3), 0);
  const float nans[4] = {kNan, -kInf, kNan, -5};
  EXPECT_EQ(argmax(nans, 4), 3);
  const float infinities[3] = {kNan, -kInf, -kInf};
  EXPECT_EQ(argmax(infinities, 3), 1);
  EXPECT_EQ(argmax(nans, 1), -1);
  EXPECT_EQ(argmax(nans, 0), -1);
}

/// Known answers published with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, KnownAnswers) {
  const auto expect = [](Random4 counter, uint32_t key0, uint32_t key1,
                         Random4 answer) {
    const Random4 words = philox4x32(counter, key0, key1);
    EXPECT_TRUE(std::equal(words.word, words.word + 4, answer.word));
  };
  expect({{0, 0, 0, 0}}, 0, 0,
         {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  expect({{~0u, ~0u, ~0u, ~0u}}, ~0u, ~0u,
         {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  expect({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822,
         0x299f31d0, {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST(Philox, UniformStaysBelowOne) {
  EXPECT_EQ(uniform(0), 0.0f);
  EXPECT_EQ(uniform(~0u), 0x1.fffffep-1f);
  const Random4 words = randomAt(uint64_t(5) << 32 | 9, 3);
  const Random4 same = philox4x32({{9, 5, 3, 0}}, 0, 0);
  EXPECT_TRUE(std::equal(words.word, words.word + 4, same.word));
}

} // namespace
} // namespace orrery::numerics
