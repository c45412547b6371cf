// The first path through the chip: read, vector, write.
#include "tests/simulator/TestChip.h"

#include <gtest/gtest.h>

namespace orrery::sim::test {
namespace {

std::vector<float> ramp(float scale, float offset = 0) {
  std::vector<float> row(32);
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = scale * float(i) + offset;
  }
  return row;
}

TEST(VectorPath, ReadComputeWrite) {
  VectorPath chip(doubling(), 3);
  for (int n = 0; n < 3; ++n) {
    chip.putF32(4, n, ramp(0.5f, float(n)));
  }
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  for (int n = 0; n < 3; ++n) {
    EXPECT_EQ(TestChip::getF32(s.sram(), 24, n, 32),
              ramp(1.0f, 2.0f * float(n)));
  }
}

TEST(VectorPath, EveryInstructionRunsWhenItsTickSays) {
  VectorPath chip(doubling(), 3);
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(result->executed[i], chip.at(i).tick);
  }
  // Read at 10 in slice 4 (position 7); its VXM is at 23. Issue + 5 + 16.
  EXPECT_EQ(chip.at(chip.vectorNumber).tick, 10 + 5 + 16);
  // Write: last vector (+2), last slice of the range (+3), `write` (+2).
  EXPECT_EQ(result->ticks, chip.at(chip.writeNumber).tick + 2 + 3 + 2);
  EXPECT_EQ(result->completed[chip.writeNumber], result->ticks);
}

TEST(VectorPath, OneCycleOffIsAnError) {
  for (int delta : {-1, 1}) {
    VectorPath chip(doubling());
    chip.at(chip.vectorNumber).tick += delta;
    std::string error = chip.error();
    EXPECT_NE(error.find("vxm: instruction 1 vector (layer 0 test), cycle " +
                         std::to_string(31 + delta)),
              std::string::npos)
        << error;
    EXPECT_NE(error.find("found nothing"), std::string::npos) << error;
    EXPECT_EQ(error, chip.timingError());
  }
}

TEST(VectorPath, ReducesOverLanesAndGroups) {
  VectorProgram p = doubling();
  p.outputs = {{1, StreamType::F32, Reduction::SumWide}};
  p.group = 2;
  VectorPath chip(p, 4);
  for (int n = 0; n < 4; ++n) {
    chip.putF32(4, n, std::vector<float>(32, float(n + 1)));
  }
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(TestChip::getF32(s.sram(), 24, 0, 32),
            std::vector<float>(32, 2 * 32 * 3.0f));
  EXPECT_EQ(TestChip::getF32(s.sram(), 24, 1, 32),
            std::vector<float>(32, 2 * 32 * 7.0f));
}

TEST(VectorPath, LongProgramsTakeMoreCyclesPerVector) {
  VectorProgram p = doubling();
  for (int i = 1; i < 6; ++i) {
    AluStep step{};
    step.op = AluOp::Add;
    step.a = step.b = uint8_t(i);
    p.steps.push_back(step);
  }
  p.outputs[0].value = 6;
  VectorPath chip(p, 2); // 6 steps on 4 ALUs: 2 cycles a vector
  chip.putF32(4, 1, std::vector<float>(32, 1.0f));
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(TestChip::getF32(s.sram(), 24, 1, 32),
            std::vector<float>(32, 64.0f));
}

TEST(VectorPath, NotANumberLeavingIsAnError) {
  VectorPath chip(doubling(), 2);
  auto row = ramp(1);
  row[17] = std::numeric_limits<float>::quiet_NaN();
  chip.putF32(4, 1, row);
  EXPECT_EQ(chip.error(),
            "vxm: instruction 1 vector (layer 0 test), cycle 32: vector 1: "
            "output 0 is NaN in lane 17");
  EXPECT_EQ(chip.timingError(), "");
}

TEST(VectorPath, TimingOnlyTakesTheSameTime) {
  VectorPath chip(doubling(), 3);
  Simulator functional = chip.simulator();
  Simulator timing(chip.machine);
  auto a = functional.run(chip.program, chip.input);
  auto b = timing.run(chip.program, chip.input);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->ticks, b->ticks);
  EXPECT_EQ(a->executed, b->executed);
  EXPECT_EQ(a->completed, b->completed);
  EXPECT_EQ(formatCounters(a->counters), formatCounters(b->counters));
}

} // namespace
} // namespace orrery::sim::test
