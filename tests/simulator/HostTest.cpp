// The host port, and what the host has to keep to.
#include "tests/simulator/TestChip.h"

#include <gtest/gtest.h>

namespace orrery::sim::test {
namespace {

/// Host vectors to slices 8-11, and from a table in 12-15 back to the host.
struct HostPath : TestChip {
  uint32_t receive, store, load, send;

  explicit HostPath(uint32_t count = 2, Tick arrival = 50,
                    uint32_t stride = 10) {
    program.inputVectors = count;
    region(RegionKind::Kv, 8, 4, 0, 0, 8);
    region(RegionKind::Table, 12, 4, 0, 0, 8);
    for (uint32_t n = 0; n < count; ++n) {
      for (int lane = 0; lane < 32; ++lane) {
        input.hostVectors.push_back(float(n) + float(lane) / 32);
      }
      putF32(12, n, std::vector<float>(32, float(n) - 0.5f));
    }
    ReceiveOp in;
    in.stream = 0;
    in.stop = g.ofSlice(8);
    in.shape = burst(count, stride);
    receive = add(arrival, in);
    store = add(travel(arrival, g.ofHost(), g.ofSlice(8)),
                write(8, 4, linear(0, count), {Direction::West, 0},
                      burst(count, stride)));
    ReadOp out = read(12, 4, linear(0, count),
                      {{Direction::East, 0}, g.ofHost()}, burst(count, stride));
    load = add(0, out);
    SendOp back;
    back.shape = burst(count, stride);
    send = add(readPasses(out, 0, g.ofHost()), back);
  }
  Instruction &at(uint32_t number) { return program.instructions[number]; }
};

TEST(Host, ReceivesAndSends) {
  HostPath chip;
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  for (size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(
        TestChip::getF32(s.sram(), 8, int64_t(n), 32),
        std::vector<float>(chip.input.hostVectors.begin() + 32 * long(n),
                           chip.input.hostVectors.begin() + 32 * long(n + 1)));
    EXPECT_EQ(result->hostOutput.at(n),
              std::vector<float>(32, float(n) - 0.5f));
  }
  EXPECT_EQ(result->counters.hostBytesIn, 2u * 32 * 4);
  EXPECT_EQ(result->counters.hostBytesOut, 2u * 32 * 4);
  // The send's last vector, and `host` ticks to get there.
  EXPECT_EQ(result->completed[chip.send], chip.at(chip.send).tick + 10 + 50);
}

TEST(Host, TheLinkHasALatencyAndARate) {
  EXPECT_EQ(HostPath(2, 50, 10).error(), "");
  EXPECT_NE(HostPath(2, 49, 10).error().find("free from cycle 50"),
            std::string::npos);
  EXPECT_NE(HostPath(2, 50, 9).error().find("closer than 10 cycles"),
            std::string::npos);
}

TEST(Host, MoreVectorsThanTheHostSends) {
  HostPath chip;
  chip.program.inputVectors = 1;
  EXPECT_NE(chip.timingError().find("of 1 the host sends"), std::string::npos);
  EXPECT_NE(chip.error().find("step input: host floats 64, expected 32"),
            std::string::npos);
}

TEST(Host, StepRegistersAreChecked) {
  HostPath chip;
  chip.program.tokens = 4;
  chip.program.bucket = 100;
  auto errorAt = [&](uint32_t position, uint32_t tokens) {
    chip.input.position = position;
    chip.input.validTokens = tokens;
    return chip.timingError();
  };
  EXPECT_EQ(errorAt(96, 4), "");
  EXPECT_NE(errorAt(97, 4).find("the bucket, 100"), std::string::npos);
  EXPECT_EQ(errorAt(28, 4), "");
  EXPECT_NE(errorAt(29, 4).find("across a multiple of 32"), std::string::npos);
  EXPECT_NE(errorAt(0, 0).find("valid tokens 0"), std::string::npos);
  EXPECT_NE(errorAt(0, 5).find("valid tokens 5"), std::string::npos);
}

} // namespace
} // namespace orrery::sim::test
