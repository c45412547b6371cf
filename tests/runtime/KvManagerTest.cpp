#include "runtime/KvManager.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace orrery::runtime {
namespace {

constexpr models::KvLayout kLayout = {1, 1, 8, models::KvFormat::Q8, 32};

KvManager manager(int64_t pages) {
  auto made = KvManager::create(kLayout, pages);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

TEST(KvManager, AdmitsWhatFitsAndNoMore) {
  KvManager kv = manager(5);
  auto a = kv.admit(64), b = kv.admit(65);
  ASSERT_TRUE(a && b);
  // Promised, not taken.
  EXPECT_EQ(kv.pages()->usedPages(), 0);
  EXPECT_EQ(kv.unpromisedPages(), 0);
  auto c = kv.admit(1);
  ASSERT_FALSE(c);
  EXPECT_EQ(c.error().message,
            "KV cache full: a sequence of 1 positions needs 1 pages of 32 "
            "positions, 0 of 5 are promised to nobody");
  EXPECT_EQ(kv.pages()->openSequences(), 2);
  ASSERT_TRUE(kv.pages()->reserve(*a, 64));
  kv.finish(*a);
  EXPECT_EQ(kv.pages()->usedPages(), 0);
  EXPECT_EQ(kv.unpromisedPages(), 2);
  EXPECT_TRUE(kv.admit(64));
  EXPECT_EQ(KvManager::create(kLayout, 0).error().message,
            "KV pages: expected 1 to 16777216 pages, found 0");
}

// Whoever was admitted gets every page up to its last position, in whatever
// order sequences grow, end and come.
TEST(KvManager, NobodyAdmittedRunsOut) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    KvManager kv = manager(int64_t(1 + random() % 20));
    struct Grown {
      int64_t has, most;
    };
    std::map<KvManager::Sequence, Grown> open;
    size_t refused = 0, ended = 0;
    for (int step = 0; step < 400; ++step) {
      if (open.empty() || random() % 4 == 0) {
        const auto most = int64_t(1 + random() % 300);
        const bool fits = kv.pages()->pagesFor(most) <= kv.unpromisedPages();
        auto admitted = kv.admit(most);
        ASSERT_EQ(bool(admitted), fits);
        refused += !fits;
        if (admitted) {
          open[*admitted] = {0, most};
        }
        continue;
      }
      auto it = std::next(open.begin(), int64_t(random() % open.size()));
      Grown &g = it->second;
      g.has = std::min(g.has + int64_t(1 + random() % 60), g.most);
      Status ok = kv.pages()->reserve(it->first, g.has);
      ASSERT_TRUE(ok) << ok.error().message;
      if (g.has == g.most) {
        kv.finish(it->first);
        open.erase(it);
        ++ended;
      }
      Status valid = kv.pages()->verify();
      ASSERT_TRUE(valid) << valid.error().message;
    }
    EXPECT_GT(refused, 0u);
    EXPECT_GT(ended, 0u);
  }
}

} // namespace
} // namespace orrery::runtime
