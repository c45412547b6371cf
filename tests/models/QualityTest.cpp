// KL divergence and top-1 agreement on distributions with known answers.
#include "models/Quality.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace orrery::models {
namespace {

TEST(Quality, EqualLogitsUpToAConstantHaveNoDivergence) {
  const std::array<double, 4> golden = {1, 2, -3, 0.5};
  const std::array<float, 4> ours = {101, 102, 97, 100.5f};
  EXPECT_NEAR(klDivergence(golden, ours), 0, 1e-12);
}

TEST(Quality, KnownDivergence) {
  const std::array<double, 2> golden = {std::log(0.75), std::log(0.25)};
  const std::array<float, 2> ours = {0, 0};
  const double expected = 0.75 * std::log(1.5) + 0.25 * std::log(0.5);
  EXPECT_NEAR(klDivergence(golden, ours), expected, 1e-12);
}

TEST(Quality, LargeLogitsDoNotOverflow) {
  const std::array<double, 2> golden = {5000, 4999};
  const std::array<float, 2> ours = {-5000, -5001};
  EXPECT_NEAR(klDivergence(golden, ours), 0, 1e-12);
}

TEST(Quality, MeanMaxAndTop1) {
  const std::array<double, 2> golden = {std::log(0.75), std::log(0.25)};
  const std::array<float, 2> same = {std::log(0.75f), std::log(0.25f)};
  const std::array<float, 2> swapped = {std::log(0.25f), std::log(0.75f)};
  QualityMeter meter;
  meter.add(golden, same);
  meter.add(golden, swapped);
  const Quality quality = meter.quality();
  EXPECT_EQ(quality.positions, 2);
  EXPECT_EQ(quality.top1, 0.5);
  EXPECT_NEAR(quality.maxKl, 0.5 * std::log(3), 1e-6);
  EXPECT_NEAR(quality.meanKl, quality.maxKl / 2, 1e-6);
}

TEST(Quality, NothingComparedIsNotAgreement) {
  const Quality quality = QualityMeter().quality();
  EXPECT_EQ(quality.positions, 0);
  EXPECT_EQ(quality.top1, 0);
}

} // namespace
} // namespace orrery::models
