// The switch unit: lane maps and the transposing of token vectors.
#include "tests/simulator/TestChip.h"

#include <gtest/gtest.h>

namespace orrery::sim::test {
namespace {

/// Slices 20, 21 through the east SXM and back to slices 0, 1.
struct SwitchPath : TestChip {
  uint32_t permute, store;

  SwitchPath(PermuteOp op, uint32_t count, uint32_t results) {
    region(RegionKind::Table, 20, 2, 0, 0, 64);
    region(RegionKind::Kv, 0, 4, 0, 0, 64);
    ReadOp in = read(20, op.width, linear(0, count),
                     {{Direction::East, 0}, g.ofSxm(1)}, burst(count));
    add(0, in);
    Tick taken = readPasses(in, 0, g.ofSxm(1));
    op.sxm = 1;
    op.count = count;
    op.in = {Direction::East, 0};
    op.out = {{Direction::West, 4}, g.ofSlice(0)};
    permute = add(taken, op);
    bool isMap = op.kind == PermuteKind::LaneMap;
    Tick leaves = isMap ? taken + machine.timing.permute
                        : taken + count - 1 + machine.timing.transpose;
    uint8_t width = isMap ? op.width : op.outWidth;
    store = add(travel(leaves, g.ofSxm(1), g.ofSlice(0)),
                write(0, width, linear(0, results), {Direction::West, 4},
                      burst(results)));
    for (uint32_t n = 0; n < count; ++n) {
      for (int lane = 0; lane < 32; ++lane) {
        image.vector(20, 0, n)[lane] = uint8_t(n * 32 + uint32_t(lane));
        image.vector(21, 0, n)[lane] = uint8_t(100 + 7 * n + uint32_t(lane));
      }
    }
  }
};

TEST(Switch, LaneMap) {
  PermuteOp op;
  op.width = 2;
  SwitchPath chip(op, 3, 3);
  std::vector<uint16_t> map(32);
  for (size_t lane = 0; lane < 32; ++lane) {
    map[lane] = lane % 3 == 0 ? 0xffff : uint16_t((lane * 5 + 1) % 32);
  }
  chip.program.laneMaps = {map};
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  for (int n = 0; n < 3; ++n) {
    for (int stream = 0; stream < 2; ++stream) {
      for (size_t lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(s.sram().vector(stream, 0, n)[lane],
                  map[lane] == 0xffff
                      ? 0
                      : chip.image.vector(20 + stream, 0, n)[map[lane]]);
      }
    }
  }
}

TEST(Switch, TransposeTurnsTokensIntoColumns) {
  PermuteOp op;
  op.kind = PermuteKind::Transpose;
  op.width = 2;
  op.outWidth = 4;
  op.rows = 9; // 18 byte planes: 5 cycles of 4 streams, two of them empty
  SwitchPath chip(op, 3, 5);
  chip.program.tokens = 3;
  chip.input.position = 40; // lane 8
  chip.input.validTokens = 3;
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  for (int u = 0; u < 20; ++u) {
    for (int lane = 0; lane < 32; ++lane) {
      int token = lane - 8;
      int expected = 0;
      if (u < 18 && token >= 0 && token < 3) {
        expected = chip.image.vector(20 + u % 2, 0, token)[u / 2];
      }
      EXPECT_EQ(s.sram().vector(u % 4, 0, u / 4)[lane], expected);
    }
  }
}

TEST(Switch, OneCycleTooEarly) {
  PermuteOp op;
  SwitchPath chip(op, 2, 2);
  chip.program.laneMaps = {std::vector<uint16_t>(32, 0)};
  EXPECT_EQ(chip.error(), "");
  for (uint32_t number : {chip.permute, chip.store}) {
    SwitchPath early(op, 2, 2);
    early.program.laneMaps = chip.program.laneMaps;
    early.program.instructions[number].tick -= 1;
    EXPECT_NE(early.error().find("found nothing"), std::string::npos);
  }
}

TEST(Switch, MapsAreChecked) {
  SwitchPath none(PermuteOp(), 1, 1);
  EXPECT_NE(none.error().find("sxm east: instruction 1 permute"),
            std::string::npos);
  SwitchPath lane(PermuteOp(), 1, 1);
  lane.program.laneMaps = {std::vector<uint16_t>(32, 32)};
  EXPECT_NE(lane.error().find("names lane 32"), std::string::npos);
}

} // namespace
} // namespace orrery::sim::test
