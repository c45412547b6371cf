// The set arithmetic of bursts against plain enumeration.
#include "simulator/timing/BurstTicks.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace orrery::sim {
namespace {

BurstTicks randomBurst(std::mt19937 &random) {
  auto pick = [&](uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random);
  };
  BurstShape s;
  s.length = pick(1, 5);
  s.stride = pick(1, 4);
  s.runs = pick(1, 4);
  s.period = s.runs == 1 ? 0 : (s.length - 1) * s.stride + pick(1, 6);
  return {Tick(pick(0, 20)), s};
}

std::vector<Tick> list(const BurstTicks &b) {
  std::vector<Tick> ticks;
  for (uint64_t n = 0; n < b.count(); ++n) {
    ticks.push_back(b.at(n));
  }
  return ticks;
}

TEST(BurstTicks, CanonicalKeepsTheTicks) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    BurstTicks b = randomBurst(random);
    ASSERT_TRUE(isWellFormed(b.shape));
    EXPECT_EQ(list(b), list(ticksOf(b.first, b.shape)));
  }
}

TEST(BurstTicks, MeetIsSetIntersection) {
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    BurstTicks a = randomBurst(random), b = randomBurst(random);
    std::set<Tick> ticks;
    for (Tick t : list(a)) {
      ticks.insert(t);
    }
    bool expected = false;
    for (Tick t : list(b)) {
      expected |= ticks.contains(t);
    }
    ASSERT_EQ(meet(a, b), expected) << "iteration " << i;
    ASSERT_EQ(meet(ticksOf(a.first, a.shape), ticksOf(b.first, b.shape)),
              expected);
  }
}

TEST(BurstTicks, VectorAtAndCountBefore) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    BurstTicks b = randomBurst(random);
    std::vector<Tick> ticks = list(b);
    for (Tick t = b.first - 3; t <= b.last() + 3; ++t) {
      auto found = std::find(ticks.begin(), ticks.end(), t);
      auto vector = b.vectorAt(t);
      ASSERT_EQ(vector.has_value(), found != ticks.end());
      if (vector) {
        ASSERT_EQ(*vector, uint64_t(found - ticks.begin()));
      }
      ASSERT_EQ(b.countBefore(t),
                uint64_t(std::lower_bound(ticks.begin(), ticks.end(), t) -
                         ticks.begin()));
    }
  }
}

TEST(BurstTicks, FirstMissComparesVectorByVector) {
  std::mt19937 random(4);
  int whole = 0;
  for (int i = 0; i < 20000; ++i) {
    BurstTicks giver = randomBurst(random), taker = randomBurst(random);
    uint64_t start =
        std::uniform_int_distribution<uint64_t>(0, giver.count() - 1)(random);
    if (i % 2 == 0) { // a true part, so that whole matches occur
      uint64_t length = std::min<uint64_t>(
          giver.shape.length - start % giver.shape.length, 3);
      taker = {giver.at(start), {uint32_t(length), giver.shape.stride, 1, 0}};
    }
    std::optional<uint64_t> expected;
    for (uint64_t n = 0; n < taker.count() && !expected; ++n) {
      if (start + n >= giver.count() || giver.at(start + n) != taker.at(n)) {
        expected = n;
      }
    }
    whole += !expected;
    ASSERT_EQ(firstMiss(giver, start, taker), expected) << "iteration " << i;
  }
  EXPECT_GT(whole, 5000);
}

TEST(BurstTicks, TimesMustIncrease) {
  EXPECT_FALSE(isWellFormed({0, 1, 1, 0}));
  EXPECT_FALSE(isWellFormed({2, 0, 1, 0}));
  EXPECT_FALSE(isWellFormed({3, 2, 2, 4}));
  EXPECT_TRUE(isWellFormed({3, 2, 2, 5}));
}

} // namespace
} // namespace orrery::sim
