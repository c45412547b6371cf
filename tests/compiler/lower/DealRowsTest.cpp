// Every row is made once, in few pieces, and no plane has much more than its
// share.
#include "compiler/lower/DealRows.h"

#include "gtest/gtest.h"

namespace orrery {
namespace {

constexpr int32_t kUnit = 16;

void expectAllRows(const AxisLayout &out, int32_t planes) {
  SCOPED_TRACE(std::to_string(out.elements) + " elements, " +
               std::to_string(planes) + " planes");
  std::vector<std::vector<int>> made(size_t(out.vectors()));
  for (size_t j = 0; j < made.size(); ++j) {
    made[j].assign(size_t(out.lanes), 0);
  }
  std::vector<int64_t> rows(size_t(planes), 0);
  for (const RowPiece &p : dealRows(out, planes)) {
    ASSERT_GE(p.plane, 0);
    ASSERT_LT(p.plane, planes);
    ASSERT_EQ(p.low % kUnit, 0);
    ASSERT_EQ(p.high % kUnit, 0);
    ASSERT_LT(p.low, p.high);
    rows[size_t(p.plane)] += int64_t(p.count) * (p.high - p.low);
    for (int32_t j = p.first; j < p.first + p.count; ++j) {
      for (int32_t lane = p.low; lane < p.high; ++lane) {
        ++made[size_t(j)][size_t(lane)];
      }
      ASSERT_EQ(p.lastOfVector, p.high >= out.used(j));
    }
  }
  int64_t all = 0;
  for (int32_t j = 0; j < out.vectors(); ++j) {
    int32_t used = (out.used(j) + kUnit - 1) / kUnit * kUnit;
    all += used;
    for (int32_t lane = 0; lane < out.lanes; ++lane) {
      ASSERT_EQ(made[size_t(j)][size_t(lane)], lane < used ? 1 : 0)
          << "vector " << j << " lane " << lane;
    }
  }
  // Of the rows left over whole vectors no plane has a unit more than another.
  int64_t most = *std::max_element(rows.begin(), rows.end());
  EXPECT_LE(most, (all + planes - 1) / planes + kUnit);
}

TEST(DealRows, EachRowOnceAndEvenly) {
  for (int32_t lanes : {64, 320}) {
    for (int32_t planes : {1, 2, 4, 8}) {
      for (int32_t n : {1, 15, 16, 17, 64, 100, 320, 1000, 1024, 3584, 11008}) {
        expectAllRows(AxisLayout::dense(n, lanes), planes);
      }
      expectAllRows(AxisLayout::ofHeads(8, 1, 64, lanes), planes);
      expectAllRows(AxisLayout::ofHeads(9, 3, 32, lanes), planes);
    }
  }
}

// 1024 rows are three vectors of 320 and 64 more: 256 a plane, in at most two
// pieces.
TEST(DealRows, LeftOversAreNotCutIntoCrumbs) {
  auto pieces = dealRows(AxisLayout::dense(1024, 320), 4);
  EXPECT_EQ(pieces.size(), 7u);
  for (const RowPiece &p : pieces) {
    EXPECT_GE(p.high - p.low, 64);
  }
}

} // namespace
} // namespace orrery
