// Curves: at samples, between them, and beyond both ends; never falling.
#include "gpu-reference/latency/Curve.h"

#include <gtest/gtest.h>

#include <random>

namespace orrery::gpu::latency {
namespace {

TEST(Curve, AtAndBetweenSamples) {
  auto curve = Curve::make({{30, 9}, {10, 5}, {20, 7}});
  ASSERT_TRUE(curve);
  EXPECT_DOUBLE_EQ((*curve)(10), 5);
  EXPECT_DOUBLE_EQ((*curve)(20), 7);
  EXPECT_DOUBLE_EQ((*curve)(30), 9);
  EXPECT_DOUBLE_EQ((*curve)(12.5), 5.5);
  EXPECT_DOUBLE_EQ((*curve)(25), 8);
}

TEST(Curve, BeyondItsEnds) {
  auto curve = Curve::make({{10, 5}, {20, 7}});
  ASSERT_TRUE(curve);
  EXPECT_DOUBLE_EQ((*curve)(0), 5);
  EXPECT_DOUBLE_EQ((*curve)(9.9), 5);
  EXPECT_DOUBLE_EQ((*curve)(40), 11); // as between the last two
  auto given = Curve::make({{10, 5}, {20, 7}}, 0.5);
  ASSERT_TRUE(given);
  EXPECT_DOUBLE_EQ((*given)(40), 17);
  auto one = Curve::make({{10, 5}});
  ASSERT_TRUE(one);
  EXPECT_DOUBLE_EQ((*one)(1000), 5);
}

TEST(Curve, NeverFalls) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(0.1, 100);
    std::vector<Curve::Point> points;
    for (int i = 0; i < 1 + int(seed % 9); ++i) {
      points.push_back({value(random), value(random)});
    }
    auto curve = Curve::make(points);
    ASSERT_TRUE(curve) << curve.error().message;
    double before = 0;
    for (double at = 0; at < 150; at += 0.37) {
      double now = (*curve)(at);
      ASSERT_GE(now, before) << at;
      before = now;
    }
    // No sample is made cheaper than it was measured.
    for (const Curve::Point &point : points) {
      ASSERT_GE((*curve)(point.at), point.value);
    }
  }
}

TEST(Curve, RefusesWhatIsNoCurve) {
  EXPECT_EQ(Curve::make({}).error().message,
            "expected at least one sample, found none");
  EXPECT_FALSE(Curve::make({{1, 2}, {1, 3}}));
  EXPECT_FALSE(Curve::make({{0, 2}}));
  EXPECT_FALSE(Curve::make({{1, -2}}));
  EXPECT_FALSE(Curve::make({{1, 0.0 / 0.0}}));
}

} // namespace
} // namespace orrery::gpu::latency
