#include "gpu-reference/StepRows.h"

#include <gtest/gtest.h>

namespace orrery::gpu {
namespace {

TEST(StepRows, AChunkOfOneSequence) {
  const std::vector<int32_t> ids = {5, 6, 7};
  const StepRows step = StepRows::ofSequence(3, ids, 10);
  EXPECT_EQ(step.count(), 3);
  EXPECT_EQ(step.positions, (std::vector<uint32_t>{10, 11, 12}));
  EXPECT_FALSE(step.batched());
  EXPECT_FALSE(step.decodes());
  EXPECT_EQ(step.end(), 13);
  EXPECT_EQ(step.endOf(0), 13);
  EXPECT_EQ(step.place(2), "position 12");
}

TEST(StepRows, ABatch) {
  const std::vector<SequenceToken> tokens = {{3, 5, 10}, {1, 6, 40}, {2, 7, 0}};
  const StepRows step = StepRows::ofBatch(tokens);
  EXPECT_EQ(step.ids, (std::vector<int32_t>{5, 6, 7}));
  EXPECT_TRUE(step.batched());
  EXPECT_TRUE(step.decodes());
  EXPECT_EQ(step.end(), 41);
  EXPECT_EQ(step.endOf(0), 11);
  EXPECT_EQ(step.endOf(2), 1);
  EXPECT_EQ(step.place(1), "sequence 1, position 40");
}

// One token is the same step, however it was asked for.
TEST(StepRows, OneToken) {
  const StepRows alone = StepRows::ofSequence(4, std::vector<int32_t>{9}, 2);
  const StepRows batch = StepRows::ofBatch(std::vector{SequenceToken{4, 9, 2}});
  for (const StepRows &step : {alone, batch}) {
    EXPECT_FALSE(step.batched());
    EXPECT_TRUE(step.decodes());
    EXPECT_EQ(step.endOf(0), 3);
    EXPECT_EQ(step.place(0), "position 2");
  }
}

} // namespace
} // namespace orrery::gpu
