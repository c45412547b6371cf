// The simulator as a whole: repeatable, many in a process, books that add up.
#include "simulator/report/Trace.h"
#include "tests/simulator/MatrixPath.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace orrery::sim::test {
namespace {

MatrixShape someShape() {
  return {WeightFormat::Q8, 32, 0, 32, 2, 2, 3, RegionKind::Weight};
}

TEST(SimulatorRuns, SameInputSameBytes) {
  MatrixPath chip(someShape());
  std::string first;
  for (int i = 0; i < 3; ++i) {
    Trace trace;
    Simulator s = chip.simulator();
    s.setTrace(&trace);
    auto result = s.run(chip.program, chip.input);
    ASSERT_TRUE(result);
    std::string all = formatCounters(result->counters) +
                      trace.json(chip.machine, chip.program);
    for (Tick t : result->executed) {
      all += std::to_string(t) + " ";
    }
    EXPECT_TRUE(first.empty() || first == all);
    first = all;
  }
}

TEST(SimulatorRuns, ManyInOneProcess) {
  MatrixPath good(someShape());
  MatrixPath bad(someShape());
  bad.at(bad.matmul).tick -= 1;
  Simulator kept = good.simulator();
  auto expected = kept.run(good.program, good.input);
  ASSERT_TRUE(expected);
  for (int i = 0; i < 200; ++i) {
    Simulator s = i % 2 == 0 ? good.simulator() : Simulator(good.machine);
    EXPECT_TRUE(s.run(good.program, good.input));
    EXPECT_FALSE(s.run(bad.program, bad.input));
    // After an error the next step runs as if nothing had happened.
    auto again = s.run(good.program, good.input);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->ticks, expected->ticks);
    auto other = kept.run(good.program, good.input);
    ASSERT_TRUE(other);
    EXPECT_EQ(other->completed, expected->completed);
  }
}

TEST(SimulatorRuns, BooksAddUp) {
  MatrixPath chip(someShape());
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result);
  const Counters &c = result->counters;
  for (const UnitCounters &u : c.units) {
    EXPECT_EQ(u.busyTicks + u.idleTicks, uint64_t(result->ticks)) << u.name;
  }
  EXPECT_EQ(c.bytesRead(), c.readBytesTaken + c.readBytesDropped);
  EXPECT_EQ(c.readBytesDropped, 0u);
  // 6 entries in two slices; 4 tiles of 3 cycles of 16 vectors.
  EXPECT_EQ(c.bytesRead(), (6u * 2 + 4u * 3 * 16) * 32);
  EXPECT_EQ(c.bytesWritten(), 6u * 4 * 32);
  EXPECT_EQ(c.int8Macs, 4u * 3 * 32 * 32);
  const EnergyParameters &e = chip.machine.energy;
  EXPECT_DOUBLE_EQ(c.energy.sramReadJoules,
                   double(c.bytesRead()) * e.sramReadPjPerByte * 1e-12);
  EXPECT_DOUBLE_EQ(c.energy.macJoules,
                   double(c.int8Macs) * e.int8MacPj * 1e-12);
  EXPECT_DOUBLE_EQ(c.energy.staticJoules,
                   100.0 * double(result->ticks) / 900e6);
  EXPECT_GT(c.energy.streamJoules, 0);
  uint64_t vectors = 0;
  for (const StreamCounters &stream : c.streams) {
    vectors += stream.vectors;
    EXPECT_EQ(stream.droppedVectors, 0u);
  }
  EXPECT_EQ(vectors, 6u * 2 + 4u * 3 * 16 + 6u * 4);
}

TEST(SimulatorRuns, UnreadVectorsCountAsDropped) {
  MatrixPath chip(someShape());
  chip.program.instructions.resize(1);
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->counters.readBytesDropped, 6u * 2 * 32);
  EXPECT_EQ(result->counters.bytesRead(), result->counters.readBytesDropped);
}

TEST(SimulatorRuns, TraceIsJsonAndBounded) {
  MatrixPath chip(someShape());
  Simulator s(chip.machine);
  Trace trace(5);
  s.setTrace(&trace);
  ASSERT_TRUE(s.run(chip.program, chip.input));
  EXPECT_EQ(trace.size(), 5u);
  // 2 + 16 + 4 slices, load, install, matmul.
  EXPECT_EQ(trace.omitted(), 2u + 16 + 4 + 3 - 5);
  auto json = nlohmann::json::parse(trace.json(chip.machine, chip.program));
  EXPECT_EQ(json["traceEvents"].back()["args"]["op"], "read");
}

TEST(SimulatorRuns, LogitsAreReadFromTheirPlace) {
  MatrixPath chip(someShape());
  chip.program.logits = {0, 0, 0, 2, 50};
  Simulator s = chip.simulator();
  ASSERT_TRUE(s.run(chip.program, chip.input));
  std::vector<float> logits = s.logits(chip.program, 1);
  ASSERT_EQ(logits.size(), 50u);
  auto second = TestChip::getF32(s.sram(), 0, 2, 32);
  EXPECT_EQ(std::vector<float>(logits.begin(), logits.begin() + 32), second);
}

TEST(SimulatorRuns, ALocationWithoutATableIsLeftOut) {
  MatrixPath chip(someShape());
  chip.program.locations.clear();
  chip.at(chip.matmul).tick -= 1;
  EXPECT_NE(chip.timingError().find("instruction 4 matmul, cycle"),
            std::string::npos);
}

} // namespace
} // namespace orrery::sim::test
