#include "runtime/timing/GreatestFit.h"

#include <gtest/gtest.h>

#include <set>

namespace orrery::runtime {
namespace {

TEST(GreatestFit, IsExactWhateverTheLimit) {
  for (int64_t most = 1; most <= 70; ++most) {
    for (int64_t limit = 0; limit <= most + 1; ++limit) {
      std::set<int64_t> tried;
      auto found = greatestFit(most, [&](int64_t n) -> Expected<bool> {
        EXPECT_TRUE(n >= 1 && n <= most) << n;
        EXPECT_TRUE(tried.insert(n).second) << n << " tried twice";
        return n <= limit;
      });
      ASSERT_TRUE(found);
      int64_t expected = std::min(limit, most);
      ASSERT_EQ(*found, expected) << most << " " << limit;
      EXPECT_TRUE(expected == 0 || tried.contains(expected));
      EXPECT_TRUE(expected == most || tried.contains(expected + 1));
    }
  }
}

TEST(GreatestFit, TriesTwiceTheDigits) {
  int64_t limit = 11'184'811, tries = 0;
  auto found = greatestFit(int64_t(1) << 24, [&](int64_t n) -> Expected<bool> {
    ++tries;
    return n <= limit;
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, limit);
  EXPECT_LE(tries, 2 * 24 + 1);
}

TEST(GreatestFit, AnErrorIsNoRefusal) {
  for (int64_t broken : {1, 4, 5, 7}) {
    auto found = greatestFit(100, [&](int64_t n) -> Expected<bool> {
      if (n == broken) {
        return Error{"broken at " + std::to_string(n)};
      }
      return n < 8;
    });
    if (broken == 5) { // between 4 and 8 comes 6
      EXPECT_TRUE(found);
      continue;
    }
    ASSERT_FALSE(found) << broken;
    EXPECT_EQ(found.error().message, "broken at " + std::to_string(broken));
  }
}

TEST(GreatestFit, NothingToTry) {
  auto found = greatestFit(0, [](int64_t) -> Expected<bool> {
    ADD_FAILURE();
    return false;
  });
  EXPECT_TRUE(found && *found == 0);
}

} // namespace
} // namespace orrery::runtime
