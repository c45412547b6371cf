// Stages that reach each other over third chips, and over several cables at
// once: relays and spreading change no bit, every instruction of every chip
// runs in its predicted tick, and the checker finds nothing.
#include "tests/conformance/CaseSeries.h"
#include "tests/conformance/RandomSystem.h"

#include <gtest/gtest.h>

namespace orrery::test {
namespace {

TEST(RouteTest, BitsAndTicks) {
  CaseSeries series({"no room", "does not fit", "activation vectors, a plane",
                     ", a plane has", "a bank has", "too full",
                     "more streams than the chip's", "would run dry"});
  series.run(24, [](uint64_t seed) {
    RandomSystem system = drawRoutes(seed);
    return DrawnCase{system.drawn, system.text()};
  });
  EXPECT_GE(3 * series.ran, 2 * series.cases);
  EXPECT_GT(3 * series.relayed, series.cases) << "over third chips";
  EXPECT_GT(2 * series.spread, series.cases) << "over parallel cables";
}

} // namespace
} // namespace orrery::test
