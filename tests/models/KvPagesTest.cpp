#include "models/KvPages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace orrery::models {
namespace {

KvPages pool(int64_t pages, int32_t pagePositions = 32) {
  auto made = KvPages::create({2, 3, 40, KvFormat::Q8, pagePositions}, pages);
  EXPECT_TRUE(made);
  return *made;
}

TEST(KvPages, WhatAPageHolds) {
  // Keys 32 rows of 40 codes padded to 48, values 40 x 32 codes, 2 x 32 scales.
  const KvLayout q8{2, 3, 40, KvFormat::Q8, 32};
  EXPECT_EQ(q8.headBytes(), 32 * 48 + 40 * 32 + 2 * 32 * 2);
  EXPECT_EQ(q8.pageBytes(), q8.headBytes() * 3 * 2);
  // 20 bytes of keys padded to 32; values 16 bytes a block and element.
  const KvLayout q4{1, 1, 40, KvFormat::Q4, 64};
  EXPECT_EQ(q4.headBytes(), 64 * 32 + 2 * 40 * 16 + 2 * 64 * 2);
  const KvLayout f16{1, 1, 40, KvFormat::F16, 32};
  EXPECT_EQ(f16.headBytes(), 32 * 80 + 40 * 64);
}

// No two things of a pool share a byte, all are inside, and rows are aligned.
TEST(KvPages, LayoutHasNoOverlaps) {
  for (KvFormat format : {KvFormat::F16, KvFormat::Q8, KvFormat::Q4}) {
    for (int32_t headDim : {1, 24, 40, 100, 128}) {
      const KvLayout l{2, 2, headDim, format, 64};
      std::map<int64_t, int64_t> ranges; // start to end
      for (int32_t head = 0; head < l.layers * l.kvHeads; ++head) {
        const int64_t base =
            l.headOffset(1, head / l.kvHeads, head % l.kvHeads);
        EXPECT_EQ(base % 16, 0);
        for (int32_t u = 0; u < l.pagePositions; ++u) {
          const int64_t key = base + l.keyOffset(u);
          EXPECT_EQ(key % 16, 0);
          EXPECT_GE(l.keyRowBytes() * 8, headDim * l.bits());
          EXPECT_TRUE(ranges.emplace(key, key + l.keyRowBytes()).second);
          if (l.hasScales()) {
            for (int64_t at : {l.keyScaleOffset(u), l.valueScaleOffset(u)}) {
              EXPECT_TRUE(ranges.emplace(base + at, base + at + 2).second);
            }
          }
        }
        for (int32_t at = 0; at < 2 * headDim; ++at) {
          const int64_t value =
              base + l.valueOffset(at / headDim, at % headDim);
          EXPECT_EQ(value % 16, 0);
          EXPECT_TRUE(
              ranges.emplace(value, value + l.valueBlockBytes()).second);
        }
      }
      int64_t end = l.pageBytes(); // page 1
      for (const auto &[first, last] : ranges) {
        EXPECT_EQ(first, end) << "headDim " << headDim;
        end = last;
      }
      EXPECT_EQ(end, 2 * l.pageBytes());
    }
  }
}

TEST(KvPages, PagesForPositions) {
  const KvPages pages = pool(4);
  for (auto [positions, expected] :
       {std::pair{0, 0}, {1, 1}, {32, 1}, {33, 2}, {128, 4}, {129, 5}}) {
    EXPECT_EQ(pages.pagesFor(positions), expected) << positions;
  }
}

TEST(KvPages, ExhaustedSaysWhatIsMissing) {
  KvPages pages = pool(5);
  const auto a = pages.open(), b = pages.open();
  ASSERT_TRUE(pages.reserve(a, 70));
  ASSERT_TRUE(pages.reserve(b, 32));
  const Status full = pages.reserve(b, 97);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message,
            "KV cache full: 97 positions need 3 more pages of 32 positions (" +
                std::to_string(pages.layout().pageBytes()) +
                " bytes each), 1 of 5 are free");
  EXPECT_EQ(pages.table(b).size(), 1u) << "changed by a refusal";
  ASSERT_TRUE(pages.reserve(b, 64)) << "N fits though N + 1 does not";
  pages.close(a);
  EXPECT_TRUE(pages.reserve(b, 97));
}

// Several sequences claim at once: all get their pages, or none does.
TEST(KvPages, ClaimsAreAllOrNothing) {
  KvPages pages = pool(5);
  const auto a = pages.open(), b = pages.open();
  ASSERT_TRUE(pages.reserve(a, 32));
  const std::vector<KvPages::Claim> tooMuch = {{a, 96}, {b, 65}};
  const Status full = pages.reserve(tooMuch);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message,
            "KV cache full: 2 sequences need 5 more pages of 32 positions (" +
                std::to_string(pages.layout().pageBytes()) +
                " bytes each), 4 of 5 are free");
  EXPECT_EQ(pages.usedPages(), 1) << "changed by a refusal";
  // A claim below what a sequence has takes nothing back and gives nothing.
  const std::vector<KvPages::Claim> right = {{a, 1}, {b, 128}};
  EXPECT_TRUE(pages.reserve(right));
  EXPECT_EQ(pages.table(a).size(), 1u);
  EXPECT_EQ(pages.table(b).size(), 4u);
  pages.close(b);
  EXPECT_EQ(pages.usedPages(), 1);
  EXPECT_EQ(pages.mostUsedPages(), 5);
  EXPECT_EQ(pages.openSequences(), 1);
}

// Whose number is used again has none of the rows of the one before.
TEST(KvPages, FilledPositions) {
  KvPages pages = pool(4);
  const auto a = pages.open();
  EXPECT_EQ(pages.filled(a), 0);
  ASSERT_TRUE(pages.reserve(a, 70));
  pages.setFilled(a, 70);
  pages.truncate(a, 80);
  EXPECT_EQ(pages.filled(a), 70);
  pages.truncate(a, 40);
  EXPECT_EQ(pages.filled(a), 40);
  EXPECT_EQ(pages.table(a).size(), 2u);
  pages.close(a);
  EXPECT_FALSE(pages.isOpen(a));
  ASSERT_EQ(pages.open(), a);
  EXPECT_EQ(pages.filled(a), 0);
  EXPECT_TRUE(pages.table(a).empty());
  EXPECT_FALSE(pages.isOpen(-1));
  EXPECT_FALSE(pages.isOpen(1));
}

TEST(KvPages, RefusesPoolsThatCannotBe) {
  auto message = [](KvLayout layout, int64_t pages) {
    auto made = KvPages::create(layout, pages);
    return made ? std::string() : made.error().message;
  };
  const KvFormat q8 = KvFormat::Q8;
  EXPECT_EQ(message({1, 1, 8, q8, 48}, 1),
            "KV pages: expected a multiple of 32 positions in a page, found "
            "48");
  EXPECT_EQ(message({1, 0, 8, q8, 32}, 1),
            "KV pages: expected at least 1 for kv heads, found 0");
  EXPECT_EQ(message({1, 1, 8, q8, 32}, 0),
            "KV pages: expected 1 to 16777216 pages, found 0");
  // Their numbers alone would be 16 GiB of host memory.
  EXPECT_EQ(message({1, 1, 8, q8, 32}, 2147483647),
            "KV pages: expected 1 to 16777216 pages, found 2147483647");
  EXPECT_EQ(message({1 << 20, 1 << 20, 1 << 20, q8, 32}, 1 << 20),
            "KV pages: 1048576 pages of 32 positions have more bytes than 63 "
            "bits count");
  // A row of such keys has more bytes than int32 counts.
  EXPECT_EQ(message({1, 1, 1 << 27, KvFormat::F16, 32}, 1),
            "KV pages: expected at most 1048576 for head_dim, found 134217728");
  EXPECT_EQ(message({1, 1, 1 << 20, KvFormat::F16, 32}, 1), "");
  EXPECT_EQ(message({80, 8, 128, q8, 64}, 1 << 20), "");
}

/// The same bookkeeping, as sets.
struct Model {
  int64_t pages, pagePositions;
  std::map<KvPages::Sequence, int64_t> held; ///< pages of open sequences
  int64_t free() const {
    int64_t left = pages;
    for (auto [sequence, count] : held) {
      left -= count;
    }
    return left;
  }
};

TEST(KvPages, RandomSequencesOfCalls) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto below = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
    Model model{1 + below(30), 32 * (1 + below(3)), {}};
    KvPages pages = pool(model.pages, int32_t(model.pagePositions));
    for (int step = 0; step < 300; ++step) {
      if (model.held.empty() || below(8) == 0) {
        const auto opened = pages.open();
        ASSERT_FALSE(model.held.contains(opened));
        model.held[opened] = 0;
      }
      auto chosen =
          std::next(model.held.begin(), below(int64_t(model.held.size())));
      const auto sequence = chosen->first;
      const auto before = pages.table(sequence);
      const std::vector<int32_t> kept(before.begin(), before.end());
      const int64_t positions = below(model.pages * model.pagePositions + 40);
      const int64_t wanted =
          (positions + model.pagePositions - 1) / model.pagePositions;
      switch (below(6)) {
      case 0:
        pages.close(sequence);
        model.held.erase(sequence);
        break;
      case 1:
      case 2:
        pages.truncate(sequence, positions);
        chosen->second = std::min(chosen->second, wanted);
        break;
      case 3: { // two claim at once
        auto other =
            std::next(model.held.begin(), below(int64_t(model.held.size())));
        if (other == chosen) {
          continue;
        }
        const int64_t more = std::max<int64_t>(wanted - chosen->second, 0) +
                             std::max<int64_t>(wanted - other->second, 0);
        const bool fits = more <= model.free();
        const KvPages::Claim claims[] = {{sequence, positions},
                                         {other->first, positions}};
        ASSERT_EQ(bool(pages.reserve(claims)), fits);
        if (fits) {
          chosen->second = std::max(chosen->second, wanted);
          other->second = std::max(other->second, wanted);
        }
        break;
      }
      default:
        const bool fits = wanted - chosen->second <= model.free();
        ASSERT_EQ(bool(pages.reserve(sequence, positions)), fits);
        chosen->second =
            fits ? std::max(chosen->second, wanted) : chosen->second;
      }
      const Status valid = pages.verify();
      ASSERT_TRUE(valid) << valid.error().message;
      ASSERT_EQ(pages.freePages(), model.free());
      std::set<int32_t> owned;
      for (auto [open, count] : model.held) {
        const auto table = pages.table(open);
        ASSERT_EQ(int64_t(table.size()), count);
        owned.insert(table.begin(), table.end());
      }
      ASSERT_EQ(int64_t(owned.size()), model.pages - model.free());
      if (model.held.contains(sequence)) { // what stays, stays where it is
        const auto after = pages.table(sequence);
        const size_t common = std::min(kept.size(), after.size());
        ASSERT_TRUE(
            std::equal(kept.begin(), kept.begin() + common, after.begin()));
      }
    }
  }
}

} // namespace
} // namespace orrery::models
