// Row-parallel products, asked for, on random systems: each rank multiplies
// with its own columns, accumulators cross the links and are added as integers.
// The logits are still the interpreter's bit for bit, every instruction runs in
// its predicted tick, and the checker finds nothing.
#include "tests/conformance/CaseSeries.h"
#include "tests/conformance/RandomSystem.h"

#include <gtest/gtest.h>

namespace orrery::test {
namespace {

/// The system of a seed of its own for which ranks share products.
RandomSystem sharedSystem(uint64_t seed) {
  for (uint64_t other = 1000 * seed;; ++other) {
    RandomSystem system = drawSystem(other);
    if (system.drawn.options.split.tensorParallel > 1) {
      return system;
    }
  }
}

void expectHolds(const char *products, int64_t cases) {
  CaseSeries series({"no room", "does not fit", "activation vectors, a plane",
                     ", a plane has", "a bank has", "too full",
                     "more streams than the chip's", "would run dry"});
  series.run(cases, [&](uint64_t seed) {
    RandomSystem system = sharedSystem(seed);
    system.drawn.options.split.products = products;
    return DrawnCase{system.drawn, system.text() + " products " + products};
  });
  EXPECT_GE(3 * series.ran, 2 * series.cases);
  EXPECT_GT(series.sum.linkVectors, 0);
  EXPECT_GT(series.sum.partials, series.sum.programs)
      << "two products a layer, on each rank";
}

TEST(RowParallelTest, Scatter) { expectHolds("scatter", 16); }
TEST(RowParallelTest, Reduce) { expectHolds("reduce", 16); }
TEST(RowParallelTest, Row) { expectHolds("row", 8); }

} // namespace
} // namespace orrery::test
