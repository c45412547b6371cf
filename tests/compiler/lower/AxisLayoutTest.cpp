// Layouts of axes: every element has one lane of one vector, padding none, and
// a query stands in the lanes of its keys.
#include "compiler/lower/AxisLayout.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <string>

namespace orrery {
namespace {

constexpr int32_t kLanes[] = {32, 64, 320};
// Widths at which tools of this kind went wrong.
constexpr int32_t kWidths[] = {1,     2,     31,     32,     33,    63,
                               64,    127,   129,    320,    321,   4096,
                               32003, 50257, 151936, 201088, 262144};
constexpr int32_t kHeadDims[] = {1,  2,   24,  32,  40,  48,  64, 80,
                                 96, 100, 112, 128, 192, 256, 320};
struct Heads {
  int32_t heads, kvHeads;
};
constexpr Heads kHeads[] = {{1, 1}, {2, 1}, {3, 3},  {6, 2},  {8, 8},
                            {9, 3}, {7, 7}, {32, 8}, {71, 1}, {28, 4}};

void expectEveryElementOnce(const AxisLayout &axis) {
  std::vector<int> seen(size_t(axis.elements), 0);
  for (int32_t j = 0; j < axis.vectors(); ++j) {
    for (int32_t lane = 0; lane < axis.lanes; ++lane) {
      int32_t element = axis.source(j, lane);
      if (element < 0) {
        continue;
      }
      ASSERT_LT(element, axis.elements);
      ASSERT_LT(lane, axis.used(j)) << "beyond the used lanes";
      ++seen[size_t(element)];
    }
    ASSERT_GE(axis.used(j), 1);
    ASSERT_LE(axis.used(j), axis.lanes);
  }
  for (size_t element = 0; element < seen.size(); ++element) {
    ASSERT_EQ(seen[element], 1) << "element " << element;
  }
}

std::string nameOf(const AxisLayout &axis) {
  return std::to_string(axis.elements) + " elements, " +
         std::to_string(axis.heads) + " heads over " +
         std::to_string(axis.kvHeads) + " of " + std::to_string(axis.headDim) +
         " in " + std::to_string(axis.lanes) + " lanes";
}

/// Calls visit for the axis of q and that of k or v of every shape that fits.
template <class Visit> void forEachHeads(Visit visit) {
  for (int32_t lanes : kLanes) {
    for (int32_t dim : kHeadDims) {
      for (Heads h : kHeads) {
        auto q = AxisLayout::ofHeads(h.heads, h.kvHeads, dim, lanes);
        if (q.slot() <= lanes) {
          visit(q, AxisLayout::ofHeads(h.kvHeads, h.kvHeads, dim, lanes));
        }
      }
    }
  }
}

TEST(AxisLayout, DenseHasEveryElementOnce) {
  for (int32_t lanes : kLanes) {
    for (int32_t width : kWidths) {
      auto axis = AxisLayout::dense(width, lanes);
      SCOPED_TRACE(nameOf(axis));
      EXPECT_EQ(axis.vectors(), (width + lanes - 1) / lanes);
      expectEveryElementOnce(axis);
    }
  }
}

TEST(AxisLayout, DenseIsInOrder) {
  auto axis = AxisLayout::dense(100, 64);
  EXPECT_EQ(axis.source(0, 0), 0);
  EXPECT_EQ(axis.source(0, 63), 63);
  EXPECT_EQ(axis.source(1, 35), 99);
  EXPECT_EQ(axis.source(1, 36), -1);
  EXPECT_EQ(axis.used(1), 36);
}

TEST(AxisLayout, HeadsHaveEveryElementOnce) {
  forEachHeads([](const AxisLayout &q, const AxisLayout &kv) {
    SCOPED_TRACE(nameOf(q));
    expectEveryElementOnce(q);
    expectEveryElementOnce(kv);
  });
}

// In lane l of query vector (v, g) and of KV vector v stand the same element of
// a head and of the KV head it belongs to.
TEST(AxisLayout, QueriesStandInTheLanesOfTheirKeys) {
  forEachHeads([](const AxisLayout &q, const AxisLayout &kv) {
    SCOPED_TRACE(nameOf(q));
    int32_t group = q.heads / q.kvHeads;
    ASSERT_EQ(q.vectors(), kv.vectors() * group);
    for (int32_t j = 0; j < q.vectors(); ++j) {
      for (int32_t lane = 0; lane < q.lanes; ++lane) {
        int32_t query = q.source(j, lane), key = kv.source(j / group, lane);
        ASSERT_EQ(query < 0, key < 0);
        if (query >= 0) {
          ASSERT_EQ(query % q.headDim, key % q.headDim);
          ASSERT_EQ(query / q.headDim / group, key / q.headDim);
        }
      }
    }
  });
}

// A block of 32 lanes never holds two heads.
TEST(AxisLayout, BlocksDoNotStraddleHeads) {
  forEachHeads([](const AxisLayout &q, const AxisLayout &) {
    SCOPED_TRACE(nameOf(q));
    ASSERT_EQ(q.slot() % 32, 0);
    for (int32_t j = 0; j < q.vectors(); ++j) {
      for (int32_t lane = 0; lane < q.lanes; ++lane) {
        int32_t first = q.source(j, lane / 32 * 32);
        int32_t element = q.source(j, lane);
        if (element >= 0) {
          ASSERT_EQ(element / q.headDim, first / q.headDim);
        }
      }
    }
  });
}

/// Calls visit for gathered axes: shards of whole blocks, the last ones partly
/// or wholly padding.
template <class Visit> void forEachGathered(Visit visit) {
  for (int32_t lanes : {64, 320}) {
    for (int32_t ranks : {2, 3, 5, 8, 9}) {
      for (int32_t shard : {32, 64, 96, 320, 352, 1024}) {
        for (int32_t total : {ranks * shard, (ranks - 1) * shard - 7, 3}) {
          visit(AxisLayout::dense(shard, lanes).gathered(ranks, total));
        }
      }
      for (Heads h : {Heads{2, 1}, Heads{4, 4}, Heads{6, 3}}) {
        auto heads = AxisLayout::ofHeads(h.heads, h.kvHeads, 32, lanes);
        visit(heads.gathered(ranks, ranks * heads.elements));
      }
    }
  }
}

// On every rank each element once, in a lane below `used`; place 0 is the own
// shard as the shard's layout has it.
TEST(AxisLayout, GatheredHasEveryElementOnceOnEveryRank) {
  forEachGathered([](const AxisLayout &axis) {
    SCOPED_TRACE(nameOf(axis) + ", " + std::to_string(axis.ranks) + " of " +
                 std::to_string(axis.total));
    for (int32_t rank : {0, 1, axis.ranks - 1}) {
      std::vector<int> seen(size_t(axis.total), 0);
      for (int32_t j = 0; j < axis.vectors(); ++j) {
        for (int32_t lane = 0; lane < axis.lanes; ++lane) {
          int32_t element = axis.source(j, lane, rank);
          if (element >= 0) {
            ASSERT_LT(element, axis.total);
            ASSERT_LT(lane, axis.used(j));
            ++seen[size_t(element)];
          }
        }
      }
      for (int times : seen) {
        ASSERT_EQ(times, 1);
      }
      for (const AxisLayout::Run &run : axis.runs()) {
        for (int32_t i = 0; i < run.count; ++i) {
          int32_t own = axis.shard().source(run.first + i, 0);
          int32_t element = own + rank * axis.elements;
          ASSERT_EQ(axis.source(run.base + i * run.step, 0, rank),
                    element < axis.total ? element : -1);
        }
      }
    }
  });
}

// Vectors of few lanes share: a matrix unit's tile costs the same for all.
TEST(AxisLayout, TailsOfShardsShareVectors) {
  auto axis = AxisLayout::dense(1024, 320).gathered(8, 8192);
  EXPECT_EQ(axis.vectors(), 24 + 2); // 3 full a shard; 64 lanes: 5 a vector
  EXPECT_EQ(axis.used(24), 320);
  EXPECT_EQ(axis.used(25), 3 * 64);
  // Rank 2's shard begins at 2048; that of the rank before in place 1.
  EXPECT_EQ(axis.source(0, 0, 2), 2048);
  EXPECT_EQ(axis.source(1, 0, 2), 1024);
  EXPECT_EQ(axis.source(3, 0, 2), 7 * 1024);
  EXPECT_EQ(axis.source(24, 64, 2), 1024 + 960);
}

TEST(AxisLayout, AttributesRoundTrip) {
  mlir::MLIRContext context;
  context.loadDialect<flow::FlowDialect>();
  for (const AxisLayout &axis :
       {AxisLayout::dense(50257, 320), AxisLayout::ofHeads(32, 8, 80, 320),
        AxisLayout::dense(1024, 320).gathered(8, 8000)}) {
    EXPECT_EQ(AxisLayout::of(axis.attr(&context), 320), axis);
  }
}

} // namespace
} // namespace orrery
