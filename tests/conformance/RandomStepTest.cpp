// The two equalities on random shapes and chips: logits of the simulator are
// those of the interpreter bit for bit, and every instruction runs in the tick
// the compiler gave it. CaseSeries.h says what the environment can ask for.
#include "tests/conformance/CaseSeries.h"

#include <gtest/gtest.h>

namespace orrery::test {
namespace {

TEST(RandomStepTest, BitsAndTicks) {
  // A chip may be too small for a case; nothing else is wrong with any.
  CaseSeries series({"no room", "does not fit", "activation vectors, a plane",
                     ", a plane has", "a bank has", "too full",
                     "more streams than the chip's", "would run dry"});
  series.run(120, [](uint64_t seed) {
    RandomCase drawn = drawCase(seed);
    return DrawnCase{drawn, drawn.text()};
  });
  EXPECT_GE(2 * series.ran, series.cases);
  EXPECT_GT(series.sum.fetches, 100 * series.ran);
}

} // namespace
} // namespace orrery::test
