#include "machine/RegionOverlap.h"

#include <gtest/gtest.h>

#include <random>

namespace orrery {
namespace {

SramRegion temporary(uint16_t slice, uint16_t width, uint32_t base,
                     uint32_t length, Tick born, Tick dies) {
  return {"t", RegionKind::Temporary, slice, width, 0, base, length, born,
          dies};
}
bool overlaps(const std::vector<SramRegion> &regions) {
  return findOverlap(regions, 56, 2).has_value();
}

TEST(RegionOverlap, NeedsSliceBankAddressAndTime) {
  SramRegion a = temporary(4, 2, 10, 5, 100, 200);
  EXPECT_TRUE(overlaps({a, a}));
  EXPECT_TRUE(overlaps({a, temporary(5, 2, 14, 5, 199, 300)}));
  EXPECT_TRUE(overlaps({a, temporary(5, 2, 6, 5, 0, 101)}));
  EXPECT_TRUE(overlaps({a, temporary(0, 9, 0, 99, 150, 160)}));
  EXPECT_FALSE(overlaps({a, temporary(6, 2, 14, 5, 199, 300)}));
  EXPECT_FALSE(overlaps({a, temporary(5, 2, 15, 5, 199, 300)}));
  EXPECT_FALSE(overlaps({a, temporary(5, 2, 14, 5, 200, 300)}));
  EXPECT_FALSE(overlaps({a, temporary(5, 2, 5, 5, 0, 300)}));
  SramRegion otherBank = a;
  otherBank.bank = 1;
  EXPECT_FALSE(overlaps({a, otherBank}));
  SramRegion table{"k", RegionKind::Table, 5, 1, 0, 12, 1, 0, 0};
  EXPECT_TRUE(overlaps({a, table}));
  EXPECT_TRUE(overlaps({table, a}));
}

TEST(RegionOverlap, AgreesWithEveryPair) {
  std::mt19937_64 random(7);
  int found = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<SramRegion> regions;
    for (int i = 0; i < 6; ++i) {
      Tick born = Tick(random() % 20);
      regions.push_back(temporary(random() % 6, 1 + random() % 3, random() % 30,
                                  1 + random() % 6, born,
                                  born + 1 + Tick(random() % 8)));
    }
    bool expected = false;
    for (size_t i = 0; i < regions.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        const SramRegion &a = regions[i], &b = regions[k];
        expected |= a.slice < b.slice + b.width &&
                    b.slice < a.slice + a.width && a.base < b.base + b.length &&
                    b.base < a.base + a.length && a.born < b.dies &&
                    b.born < a.dies;
      }
    }
    EXPECT_EQ(overlaps(regions), expected) << "seed 7, round " << round;
    found += expected;
  }
  EXPECT_GT(found, 200);
  EXPECT_LT(found, 1800);
}

} // namespace
} // namespace orrery
