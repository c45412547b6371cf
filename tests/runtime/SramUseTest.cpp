#include "runtime/SramUse.h"

#include <gtest/gtest.h>

namespace orrery::runtime {
namespace {

Program programOf(std::vector<SramRegion> regions, uint32_t tokens = 1) {
  Program program;
  program.tokens = tokens;
  program.bucket = 64;
  program.regions = std::move(regions);
  return program;
}

SramRegion region(const char *name, RegionKind kind, uint16_t slice,
                  uint32_t base, uint32_t length) {
  return {name, kind, slice, 2, 0, base, length};
}

SramUse useOf(const std::vector<Program> &programs) {
  std::vector<const Program *> pointers;
  for (const Program &p : programs) {
    pointers.push_back(&p);
  }
  return sramUse(*loadMachine("lpu-small"), pointers);
}

TEST(SramUse, WhatLastsCountsOnceAndTemporariesShare) {
  auto weights = region("w", RegionKind::Weight, 0, 0, 10);
  auto kv = region("kv", RegionKind::Kv, 2, 0, 20);
  SramUse use = useOf(
      {programOf({weights, kv, region("a", RegionKind::Temporary, 4, 0, 5),
                  region("b", RegionKind::Temporary, 4, 3, 5),
                  region("text", RegionKind::Instructions, 0, 10, 4)}),
       programOf({weights, kv, region("c", RegionKind::Temporary, 4, 6, 10),
                  region("text", RegionKind::Instructions, 0, 14, 4)},
                 8)});
  EXPECT_EQ(use.bytes[size_t(RegionKind::Weight)], 2 * 10 * 64);
  EXPECT_EQ(use.bytes[size_t(RegionKind::Kv)], 2 * 20 * 64);
  EXPECT_EQ(use.bytes[size_t(RegionKind::Temporary)], 2 * 16 * 64);
  EXPECT_EQ(use.bytes[size_t(RegionKind::Instructions)], 2 * 8 * 64);
  EXPECT_EQ(use.free, use.capacity - 2 * 54 * 64);
  EXPECT_TRUE(use.addsUp()) << use.conflict;
}

TEST(SramUse, TextUnderAnotherProgramsTemporaryIsAConflict) {
  SramUse use =
      useOf({programOf({region("text", RegionKind::Instructions, 4, 2, 4)}),
             programOf({region("t", RegionKind::Temporary, 4, 5, 1)}, 8)});
  EXPECT_FALSE(use.addsUp());
  EXPECT_EQ(use.conflict, "text of T=1 bucket=64 and temporaries share slice 4 "
                          "bank 0 address 5");
}

TEST(SramUse, TwoProgramsTextsAreAConflict) {
  auto text = region("text", RegionKind::Instructions, 4, 2, 4);
  EXPECT_FALSE(useOf({programOf({text}), programOf({text}, 8)}).addsUp());
}

TEST(SramUse, AMovedWeightIsAConflict) {
  SramUse use = useOf({programOf({region("w", RegionKind::Weight, 0, 0, 10)}),
                       programOf({region("w", RegionKind::Weight, 0, 1, 10)})});
  EXPECT_EQ(use.conflict, "w and w share slice 0 bank 0 address 1");
}

} // namespace
} // namespace orrery::runtime
