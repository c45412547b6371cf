// How slices are divided: presets by number, any chip by property.
#include "compiler/lower/ChipLayout.h"

#include "gtest/gtest.h"

#include <set>

namespace orrery {
namespace {

Machine preset(const char *name) { return *loadMachine(name); }

TEST(ChipLayout, LpuV1) {
  ChipLayout layout(preset("lpu-v1"));
  EXPECT_EQ(layout.groups, 2);
  EXPECT_EQ(layout.groupWidth, 16);
  EXPECT_EQ(layout.dataSlices, 12);
  EXPECT_EQ(layout.dataFirst(0), 32);
  EXPECT_EQ(layout.dataFirst(1), 44);
  EXPECT_EQ(layout.groupFirst(0, 0), 16);
  EXPECT_EQ(layout.groupFirst(0, 1), 0);
  EXPECT_EQ(layout.groupFirst(1, 0), 56);
  EXPECT_EQ(layout.groupFirst(1, 1), 72);
  EXPECT_EQ(layout.kvWidth, 10); // divides 320, fits 12
}

TEST(ChipLayout, LpuSmall) {
  ChipLayout layout(preset("lpu-small"));
  EXPECT_EQ(layout.groups, 1);
  EXPECT_EQ(layout.dataSlices, 12);
  EXPECT_EQ(layout.kvWidth, 8);
  EXPECT_EQ(layout.planes(), 4);
  EXPECT_EQ(layout.sideOfPlane(1), 0);
  EXPECT_EQ(layout.sideOfPlane(2), 1);
}

TEST(ChipLayout, SlicesAreDividedWithoutRest) {
  for (int32_t slices = 12; slices <= 100; ++slices) {
    for (int32_t streams : {1, 5, 8, 16, 32}) {
      Machine m = preset("lpu-v1");
      m.sram.slicesPerHemisphere = slices;
      m.matrix.installStreams = streams;
      ChipLayout layout(m);
      SCOPED_TRACE(std::to_string(slices) + " slices, " +
                   std::to_string(streams) + " streams");
      EXPECT_EQ(m.lanes % layout.kvWidth, 0);
      EXPECT_LE(layout.kvWidth, std::min(layout.dataSlices, streams));
      EXPECT_GE(layout.dataSlices, ChipLayout::kMinDataSlices);
      std::set<int32_t> taken;
      for (int32_t side : {0, 1}) {
        for (int32_t k = 0; k < layout.dataSlices; ++k) {
          EXPECT_TRUE(taken.insert(layout.dataFirst(side) + k).second);
        }
        for (int32_t group = 0; group < layout.groups; ++group) {
          for (int32_t k = 0; k < streams; ++k) {
            int32_t slice = layout.groupFirst(side, group) + k;
            EXPECT_TRUE(taken.insert(slice).second);
            EXPECT_EQ(layout.sideOfSlice(slice), side);
          }
        }
      }
      EXPECT_EQ(int32_t(taken.size()), 2 * slices);
      EXPECT_EQ(*taken.begin(), 0);
    }
  }
}

// Data slices lie next to the VXM: nothing of theirs crosses a weight group.
TEST(ChipLayout, DataIsInTheMiddle) {
  ChipLayout layout(preset("lpu-v1"));
  EXPECT_EQ(layout.dataFirst(0) + layout.dataSlices, layout.dataFirst(1));
}

TEST(ChipLayout, TooFewSlicesLeaveNoGroup) {
  Machine m = preset("lpu-small");
  m.sram.slicesPerHemisphere = 27;
  EXPECT_EQ(ChipLayout(m).groups, 0);
}

} // namespace
} // namespace orrery
