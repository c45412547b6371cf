// A timeline's answers against a list of all spans.
#include "compiler/schedule/Timeline.h"

#include "gtest/gtest.h"

#include <random>
#include <set>

namespace orrery::schedule {
namespace {

bool overlap(const Span &a, const Span &b) {
  return a.begin < b.end && b.begin < a.end && a.low <= b.high &&
         b.low <= a.high;
}

TEST(Timeline, TouchingSpansDoNotMeet) {
  Timeline line;
  line.add({10, 20});
  EXPECT_FALSE(line.conflict({0, 10}));
  EXPECT_FALSE(line.conflict({20, 30}));
  EXPECT_EQ(line.conflict({19, 30}), Tick(1));
  EXPECT_EQ(line.conflict({0, 11}), Tick(20));
}

TEST(Timeline, PositionsApartDoNotMeet) {
  Timeline line;
  line.add({10, 20, 5, 9});
  EXPECT_FALSE(line.conflict({10, 20, 10, 12}));
  EXPECT_TRUE(line.conflict({10, 20, 9, 12}));
}

// Diagonals of eastward streams are negative near the start.
TEST(Timeline, NegativeTimes) {
  Timeline line;
  line.add({-300, -250});
  EXPECT_TRUE(line.conflict({-251, 0}));
  EXPECT_FALSE(line.conflict({-250, 0}));
}

TEST(Timeline, AgreesWithAList) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    auto span = [&] {
      Tick begin = Tick(random() % 4000) - 500;
      auto low = Position(random() % 60);
      return Span{begin, begin + 1 + Tick(random() % 700), low,
                  low + Position(random() % 30)};
    };
    Timeline line;
    std::vector<Span> all;
    for (int n = 0; n < 40; ++n) {
      all.push_back(span());
      line.add(all.back());
    }
    for (int n = 0; n < 200; ++n) {
      Span s = span();
      bool expected = std::any_of(all.begin(), all.end(),
                                  [&](const Span &o) { return overlap(o, s); });
      auto found = line.conflict(s);
      ASSERT_EQ(found.has_value(), expected);
      if (found) { // moving that far clears at least the one it met
        Span moved = {s.begin + *found, s.end + *found, s.low, s.high};
        EXPECT_GT(*found, 0);
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Span &o) {
          return overlap(o, s) && !overlap(o, moved);
        }));
      }
    }
  }
}

std::set<Tick> ticksOf(const BurstShape &shape, Tick start) {
  std::set<Tick> ticks;
  for (uint64_t n = 0; n < shape.count(); ++n) {
    ticks.insert(start + shape.at(n));
  }
  return ticks;
}

TEST(Timeline, StretchesCoverEveryVector) {
  for (BurstShape shape : {BurstShape{1, 1, 1, 0}, BurstShape{7, 1, 1, 0},
                           BurstShape{4, 3, 1, 0}, BurstShape{5, 1, 4, 5},
                           BurstShape{5, 1, 4, 9}, BurstShape{3, 2, 2, 60}}) {
    std::set<Tick> covered;
    forEachStretch(shape, 100, [&](Tick begin, Tick end) {
      for (Tick t = begin; t < end; ++t) {
        EXPECT_TRUE(covered.insert(t).second);
      }
      return true;
    });
    auto ticks = ticksOf(shape, 100);
    EXPECT_TRUE(std::includes(covered.begin(), covered.end(), ticks.begin(),
                              ticks.end()));
    EXPECT_EQ(*covered.begin(), *ticks.begin());
    EXPECT_EQ(*covered.rbegin(), *ticks.rbegin());
    if (shape.stride == 1) {
      EXPECT_EQ(covered, ticks); // gaps between runs stay free
    }
  }
}

} // namespace
} // namespace orrery::schedule
