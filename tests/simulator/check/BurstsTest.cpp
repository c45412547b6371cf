// Burst arithmetic against enumeration of the vectors.
#include "simulator/check/Bursts.h"
#include "simulator/check/Accesses.h"
#include "tests/simulator/check/Random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace orrery::check {
namespace {

BurstShape anyShape(test::Random &r) {
  BurstShape s;
  s.length = uint32_t(r.between(1, 5));
  s.stride = uint32_t(r.between(1, 4));
  s.runs = uint32_t(r.between(1, 4));
  s.period = (s.length - 1) * s.stride + uint32_t(r.between(1, 5));
  return s;
}

TEST(BurstsTest, NormalisedAndRunsHaveTheSameTimes) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Random r(seed);
    BurstShape s = anyShape(r);
    BurstShape n = normalised(s);
    ASSERT_EQ(n.count(), s.count());
    std::vector<Tick> fromRuns;
    for (const check::Run &run : runsOf(s, 7)) {
      for (int64_t i = 0; i < run.length; ++i) {
        fromRuns.push_back(run.first + i * run.stride);
      }
    }
    ASSERT_EQ(fromRuns.size(), s.count());
    for (uint64_t i = 0; i < s.count(); ++i) {
      EXPECT_EQ(n.at(i), s.at(i));
      EXPECT_EQ(fromRuns[i], 7 + s.at(i));
    }
  }
}

TEST(BurstsTest, FirstCommon) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Random r(seed);
    auto any = [&] {
      return check::Run{r.between(-20, 20), r.between(1, 9), r.between(1, 12)};
    };
    check::Run a = any(), b = any();
    std::optional<Tick> expected;
    for (Tick t = -20; t <= 200 && !expected; ++t) {
      if (a.contains(t) && b.contains(t)) {
        expected = t;
      }
    }
    EXPECT_EQ(firstCommon(a, b), expected);
    EXPECT_EQ(firstCommon(b, a), expected);
  }
}

TEST(BurstsTest, FirstDifference) {
  int equal = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Random r(seed);
    BurstShape a = anyShape(r), b = r.chance(40) ? a : anyShape(r);
    auto offset = uint64_t(r.between(0, int64_t(a.count())));
    if (r.chance(50) && offset < a.count()) { // a part of a run of `a`
      b = {uint32_t(r.between(1, a.length)), a.stride, 1, 0};
    }
    std::optional<uint64_t> expected;
    for (uint64_t i = 0; i < b.count() && !expected; ++i) {
      if (offset + i >= a.count() ||
          a.at(offset + i) - a.at(offset) != b.at(i)) {
        expected = i;
      }
    }
    equal += !expected;
    EXPECT_EQ(firstDifference(a, offset, b), expected);
  }
  EXPECT_GT(equal, 1000);
}

/// (address, tick) pairs of cells, and of the pattern vector by vector.
TEST(AccessesTest, CellsAreTheVectors) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Random r(seed);
    ReadOp op;
    op.shape = anyShape(r);
    auto count = uint32_t(op.shape.count());
    op.address.base = 100;
    op.address.extent[0] = r.divisorOf(count);
    op.address.extent[1] = r.divisorOf(count / op.address.extent[0]);
    op.address.extent[2] = count / op.address.extent[0] / op.address.extent[1];
    for (int32_t &step : op.address.step) {
      step = int32_t(r.between(-2, 3));
    }
    if (r.chance(50)) {
      op.address.step[1] = op.address.step[0] * int32_t(op.address.extent[0]);
    }
    std::multiset<std::pair<int64_t, Tick>> expected, found;
    for (uint64_t n = 0; n < count; ++n) {
      expected.emplace(op.address.at(n), op.shape.at(n));
    }
    for (const Cell &cell : cellsOf(op, 1, 32)) {
      for (int64_t a = cell.low; a <= cell.high(); ++a) {
        found.emplace(a, cell.at(a));
      }
    }
    EXPECT_EQ(found, expected);
    AddressBox box = boxOf(op.address, 1, 32);
    EXPECT_EQ(box.low, expected.begin()->first);
    EXPECT_EQ(box.high, std::prev(expected.end())->first);
  }
}

/// A striped write reaches exactly the addresses of all valid positions.
TEST(AccessesTest, StripedCellsAreAllPlaces) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::Random r(seed);
    const int32_t lanes = 32;
    WriteOp op;
    op.width = uint8_t(r.between(1, 5));
    op.stripeBytes = uint8_t(r.between(1, 2));
    op.stripeStep = uint32_t(r.between(64, 70));
    op.address.extent = {uint32_t(r.between(1, 3)), 1, 1};
    op.shape = {op.address.extent[0], 1, 1, 0};
    auto positions = uint32_t(r.between(3, 100));
    std::set<int64_t> expected, found;
    for (uint32_t row = 0; row < positions; ++row) {
      for (int b = 0; b < op.stripeBytes; ++b) {
        uint32_t u = (row % lanes) * op.stripeBytes + uint32_t(b);
        expected.insert(int64_t(row / lanes) * op.stripeStep + u / op.width);
      }
    }
    for (const Cell &cell : cellsOf(op, positions, lanes)) {
      for (int64_t a = cell.low; a <= cell.high(); ++a) {
        found.insert(a);
      }
    }
    EXPECT_EQ(found, expected);
  }
}

} // namespace
} // namespace orrery::check
