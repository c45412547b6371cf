// Every element and every head has an owner, and shards are whole blocks.
#include "compiler/partition/ShardSizes.h"

#include "gtest/gtest.h"

#include <set>
#include <string>

namespace orrery::partition {
namespace {

TEST(ShardSizes, OneRankHasAll) {
  EXPECT_EQ(shardWidth(100, 1), 100);
  EXPECT_EQ(shardHeads(6, 3, 24, 1), (HeadShard{6, 3, 1}));
}

TEST(ShardSizes, WholeBlocksOfAllElements) {
  for (int64_t n = 1; n <= 700; n += 3) {
    for (int64_t tp = 2; tp <= 17; ++tp) {
      int64_t each = shardWidth(n, tp);
      EXPECT_EQ(each % 32, 0);
      EXPECT_GE(each * tp, n);
      // No narrower shard would do.
      EXPECT_LT((each - 32) * tp, n) << n << " over " << tp;
    }
  }
}

TEST(ShardSizes, KnownHeads) {
  // 32 query and 8 KV heads of 128 (Llama-3-8B) over 1 to 9 ranks and more.
  auto heads = [](int64_t tp) { return shardHeads(32, 8, 128, tp); };
  EXPECT_EQ(heads(2), (HeadShard{16, 4, 1}));
  EXPECT_EQ(heads(3), (HeadShard{12, 3, 1}));
  EXPECT_EQ(heads(5), (HeadShard{8, 2, 1}));
  EXPECT_EQ(heads(8), (HeadShard{4, 1, 1}));
  EXPECT_EQ(heads(9), (HeadShard{4, 1, 1}));  // the ninth has none
  EXPECT_EQ(heads(16), (HeadShard{2, 1, 2})); // two ranks share a KV head
  EXPECT_EQ(heads(24), (HeadShard{2, 1, 2})); // 3 does not divide 4 heads
  EXPECT_EQ(heads(32), (HeadShard{1, 1, 4}));
  // Heads of 8: four make a block, so a rank has no fewer.
  EXPECT_EQ(shardHeads(8, 8, 8, 8), (HeadShard{4, 4, 1}));
  EXPECT_EQ(shardHeads(8, 4, 8, 8), (HeadShard{4, 2, 1}));
  // Three heads of 24 are no whole blocks: a fourth of zeros.
  EXPECT_EQ(shardHeads(3, 3, 24, 2), (HeadShard{4, 4, 1}));
}

TEST(ShardSizes, EveryHeadOnceAndBesideItsKeys) {
  for (int64_t kvHeads : {1, 2, 3, 4, 8}) {
    for (int64_t group : {1, 2, 3, 4, 7, 8}) {
      for (int64_t headDim : {8, 24, 32, 64, 80, 128}) {
        for (int64_t tp = 1; tp <= 20; ++tp) {
          SCOPED_TRACE(std::to_string(group) + "x" + std::to_string(kvHeads) +
                       " heads of " + std::to_string(headDim) + ", tp " +
                       std::to_string(tp));
          HeadShard local = shardHeads(kvHeads * group, kvHeads, headDim, tp);
          ASSERT_EQ(local.heads % local.kvHeads, 0);
          if (tp > 1) {
            ASSERT_EQ(local.heads * headDim % 32, 0);
          }
          std::set<int64_t> seen;
          for (int64_t r = 0; r < tp; ++r) {
            for (int64_t h = 0; h < local.heads; ++h) {
              int64_t head = r * local.heads + h;
              int64_t kv = r / local.replicas * local.kvHeads +
                           h / (local.heads / local.kvHeads);
              if (head < kvHeads * group) {
                ASSERT_EQ(kv, head / group);
                ASSERT_TRUE(seen.insert(head).second);
              }
            }
          }
          ASSERT_EQ(int64_t(seen.size()), kvHeads * group);
        }
      }
    }
  }
}

} // namespace
} // namespace orrery::partition
