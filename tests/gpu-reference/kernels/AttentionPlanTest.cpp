// How attention is cut into launches, and what it refuses.
#include "gpu-reference/kernels/Attention.h"

#include "tests/gpu-reference/kernels/PagedCache.h"

namespace orrery::gpu::ORRERY_GPU {
namespace {

using models::KvFormat;

TEST(AttentionPlan, SaysWhatItCannotTake) {
  const KvLayout layout{1, 4, 64, KvFormat::Q8, 32};
  auto message = [](const KvLayout &layout, int32_t heads, int32_t tokens,
                    int32_t bucket, int32_t split) {
    auto plan = planAttention(layout, heads, tokens, bucket, split);
    return plan ? std::string() : plan.error().message;
  };
  KvLayout wide = layout;
  wide.headDim = 257;
  EXPECT_EQ(message(wide, 4, 1, 64, 0),
            "attention: expected head_dim of 1 to 256, found 257");
  EXPECT_EQ(message(layout, 6, 1, 64, 0),
            "attention: expected heads that are a multiple of 4 KV heads, "
            "found 6");
  EXPECT_EQ(message(layout, 4, 0, 64, 0),
            "attention: expected at least 1 row, found 0");
  EXPECT_EQ(message(layout, 4, 1, 0, 0),
            "attention: expected 1 to 2^30 positions, found 0");
  for (int32_t split : {48, 544}) {
    EXPECT_EQ(message(layout, 4, 1, 64, split),
              "attention: expected parts of a multiple of 32 up to 512 "
              "positions, found " +
                  std::to_string(split));
  }
}

// However large the context and the chunk, plans exist, cover the bucket and
// take bounded scratch.
TEST(AttentionPlan, CoversAnyContext) {
  for (int32_t headDim : {64, 128, 256}) {
    for (int32_t bucket : {1, 31, 33, 2048, 8191, 131072}) {
      for (int32_t tokens : {1, 32, 512, 4096}) {
        const KvLayout layout{1, 8, headDim, KvFormat::Q8, 32};
        const AttentionPlan plan =
            must(planAttention(layout, 32, tokens, bucket));
        EXPECT_GE(plan.bucket, bucket);
        EXPECT_LT(plan.bucket, bucket + 32);
        EXPECT_GE(int64_t(plan.splits()) * plan.splitPositions, plan.bucket);
        EXPECT_LT(int64_t(plan.splits() - 1) * plan.splitPositions,
                  plan.bucket);
        EXPECT_GE(plan.sliceRows, 1);
        EXPECT_LE(plan.sliceRows, tokens);
        EXPECT_TRUE(plan.sliceRows == 1 ||
                    attentionScratchBytes(plan, layout) <= size_t(128) << 20)
            << attentionScratchBytes(plan, layout);
      }
    }
  }
}

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
