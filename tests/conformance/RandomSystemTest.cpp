// The two equalities on systems: random shapes, divided at random over chips
// that are linked at random, have the interpreter's logits bit for bit (and so
// those of one chip), every instruction of every chip runs in the tick the
// compiler gave it, and the checker finds nothing. CaseSeries.h says what the
// environment can ask for.
#include "tests/conformance/RandomSystem.h"
#include "tests/conformance/CaseSeries.h"

#include <gtest/gtest.h>

namespace orrery::test {
namespace {

TEST(RandomSystemTest, BitsAndTicks) {
  CaseSeries series({"no room", "does not fit", "activation vectors, a plane",
                     ", a plane has", "a bank has", "too full",
                     "more streams than the chip's", "would run dry"});
  series.run(60, [](uint64_t seed) {
    RandomSystem system = drawSystem(seed);
    return DrawnCase{system.drawn, system.text()};
  });
  EXPECT_GE(4 * series.ran, 3 * series.cases);
  EXPECT_GT(series.sum.linkVectors, 0);
  // Of 60: 20 and 17.
  EXPECT_GT(4 * series.cut, series.cases) << "feed-forward networks cut";
  EXPECT_GT(5 * series.cutRanks, series.cases) << "and over several ranks";
}

} // namespace
} // namespace orrery::test
