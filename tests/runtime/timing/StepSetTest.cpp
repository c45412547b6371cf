#include "runtime/Generate.h"
#include "tests/runtime/TinySession.h"
#include "tests/runtime/timing/Shapes.h"

namespace orrery::runtime {
namespace {

TEST(StepSet, BucketsDouble) {
  auto set = setOf("tinystories-656k", "lpu-small", {}, 500);
  EXPECT_EQ(set->bucketFor(1), 64);
  EXPECT_EQ(set->bucketFor(64), 64);
  EXPECT_EQ(set->bucketFor(65), 128);
  EXPECT_EQ(set->bucketFor(257), 500);
}

// What a session compiles for the same prompt, it says without weights.
TEST(StepSet, ReadsAPromptLikeASession) {
  for (const char *machine : {"lpu-small", "lpu-small-node"}) {
    SessionOptions options = tinyOptions();
    options.machine = machine;
    options.context = 200;
    auto session = openTiny(options);
    std::vector<int32_t> ids(130, 1);
    auto records = session->read(ids);
    ASSERT_TRUE(records) << records.error().message;
    StepSetOptions same;
    same.machine = machine;
    same.tensorFormats = options.tensorFormats;
    same.context = options.context;
    auto set = StepSet::open(tinyModel().config(), same);
    ASSERT_TRUE(set);
    auto steps = promptSteps(**set, int64_t(ids.size()));
    ASSERT_TRUE(steps) << steps.error().message;
    ASSERT_EQ(steps->size(), records->size());
    for (size_t i = 0; i < steps->size(); ++i) {
      EXPECT_EQ((*steps)[i].tokens, (*records)[i].validTokens);
      EXPECT_EQ((*steps)[i].step->system.predictedTicks,
                (*records)[i].result.ticks);
    }
  }
}

TEST(StepSet, AllProgramsAreSplitAlike) {
  auto set = setOf("tinystories-656k", "lpu-small-node");
  const CompiledStep &first = stepOf(*set, 1, 512);
  const CompiledStep &other = stepOf(*set, 3, 64);
  EXPECT_EQ(first.system.chips.size(), other.system.chips.size());
  EXPECT_EQ(set->steps().size(), 2u);
  EXPECT_EQ(set->steps().front(), &first);
}

} // namespace
} // namespace orrery::runtime
