// Room for instructions: above all regions, all of it, and nobody else's.
#include "compiler/schedule/PlaceText.h"

#include "gtest/gtest.h"

namespace orrery::schedule {
namespace {

class PlaceText : public ::testing::Test {
protected:
  Program programOf(size_t instructions) const {
    Program program{};
    program.instructions.assign(instructions, {0, 0, SendOp{}});
    return program;
  }
  static SramRegion region(uint16_t slice, uint16_t width, uint8_t bank,
                           uint32_t length) {
    return {"r", RegionKind::Weight, slice, width, bank, 0, length};
  }
  void expectApart(const Program &a, const Program &b) const {
    for (const SramRegion &r : a.regions) {
      for (const SramRegion &s : b.regions) {
        bool same = &r == &s;
        bool slices =
            r.slice < s.slice + s.width && s.slice < r.slice + r.width;
        bool rows = r.base < s.base + s.length && s.base < r.base + r.length;
        EXPECT_FALSE(!same && r.bank == s.bank && slices && rows)
            << r.name << " and " << s.name;
      }
    }
  }
  static std::vector<SramRegion> textOf(const Program &program) {
    std::vector<SramRegion> text;
    for (const SramRegion &r : program.regions) {
      if (r.kind == RegionKind::Instructions) {
        text.push_back(r);
      }
    }
    return text;
  }
  const Machine machine = *loadMachine("lpu-small");
};

TEST_F(PlaceText, TakesWhatTheProgramTakes) {
  Program program = programOf(1000);
  program.regions.push_back(region(0, 16, 0, 100));
  auto taken = placeText(program, machine, 0);
  ASSERT_TRUE(taken) << taken.error().message;
  Bytes bytes = programBytes(program, machine);
  EXPECT_EQ(*taken, (bytes + machine.lanes - 1) / machine.lanes);
  int64_t vectors = 0;
  for (const SramRegion &r : textOf(program)) {
    vectors += r.length;
  }
  EXPECT_EQ(vectors, *taken);
  EXPECT_EQ(textOf(program)[0].base, 100u); // the free end of slice 0
  expectApart(program, program);
}

// Programs of a set share weights and KV: the second's text starts where the
// first's ends.
TEST_F(PlaceText, ProgramsOfASetStandSideBySide) {
  Program first = programOf(20000), second = programOf(30000);
  for (Program *program : {&first, &second}) {
    program->regions.push_back(region(0, 16, 0, 4000));
  }
  auto taken = placeText(first, machine, 0);
  ASSERT_TRUE(taken);
  ASSERT_TRUE(placeText(second, machine, *taken));
  Program a, b;
  a.regions = textOf(first);
  b.regions = textOf(second);
  expectApart(a, b);
  EXPECT_EQ(a.regions.back().slice, b.regions.front().slice);
  EXPECT_EQ(a.regions.back().base + a.regions.back().length,
            b.regions.front().base);
}

TEST_F(PlaceText, WeightSlicesFirst) {
  ChipLayout layout(machine);
  Program program = programOf(1000);
  ASSERT_TRUE(placeText(program, machine, 0));
  for (const SramRegion &r : textOf(program)) {
    int32_t first = layout.dataFirst(layout.sideOfSlice(r.slice));
    EXPECT_FALSE(r.slice >= first && r.slice < first + layout.dataSlices);
  }
}

TEST_F(PlaceText, NoRoomIsRefusedWithBothNumbers) {
  Program program = programOf(1000);
  for (uint8_t bank : {0, 1}) {
    program.regions.push_back(region(0, 56, bank, 4096));
  }
  program.regions.back().length = 4095; // one vector in each slice is left
  auto taken = placeText(program, machine, 0);
  ASSERT_FALSE(taken);
  Program fresh = programOf(1000);
  int64_t needed =
      (programBytes(fresh, machine) + machine.lanes - 1) / machine.lanes;
  EXPECT_EQ(taken.error().message,
            "no room for the program's text: it takes " +
                std::to_string(needed * machine.lanes) + " B, " +
                std::to_string(56 * machine.lanes) + " B are free");
}

} // namespace
} // namespace orrery::schedule
