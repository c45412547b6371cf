#include "runtime/Sampler.h"

#include <gtest/gtest.h>

#include <vector>

namespace orrery::runtime {
namespace {

TEST(Sampler, ZeroTemperatureIsGreedy) {
  EXPECT_EQ(Sampler{}.next(std::vector<float>{1, 2, 3}, 1, 0), 1);
}

TEST(Sampler, SharesFollowSoftmax) {
  // exp(0), exp(1), exp(2) over their sum.
  const std::vector<float> logits = {0, 1, 2};
  const double expected[] = {0.0900, 0.2447, 0.6652};
  constexpr uint32_t kDraws = 20000;
  std::vector<int> counts(3);
  for (uint32_t position = 0; position < kDraws; ++position) {
    ++counts[size_t(Sampler{1.0, 42}.next(logits, 2, position))];
  }
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(counts[i] / double(kDraws), expected[i], 0.012);
  }
}

TEST(Sampler, SeedAndPositionDecide) {
  const std::vector<float> logits(100, 0.0f);
  std::vector<int32_t> a, b, c;
  for (uint32_t position = 0; position < 20; ++position) {
    a.push_back(Sampler{1.0, 1}.next(logits, 0, position));
    b.push_back(Sampler{1.0, 1}.next(logits, 0, position));
    c.push_back(Sampler{1.0, 2}.next(logits, 0, position));
  }
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(Sampler, ColdIsGreedyAndFarLogitsNeverCome) {
  const std::vector<float> logits = {-500, 3, 2, -500};
  for (uint32_t position = 0; position < 200; ++position) {
    EXPECT_EQ((Sampler{0.01, 9}.next(logits, 1, position)), 1);
    int32_t warm = Sampler{2.0, 9}.next(logits, 1, position);
    EXPECT_TRUE(warm == 1 || warm == 2);
  }
}

} // namespace
} // namespace orrery::runtime
