#include "runtime/timing/StepParts.h"

#include "runtime/TimeSpent.h"
#include "simulator/SystemSimulator.h"
#include "tests/runtime/timing/Shapes.h"

namespace orrery::runtime {
namespace {

Tick of(const StepParts &parts, StepPart part) {
  return parts.step[size_t(part)].ticks;
}

TEST(StepParts, NamesOfOps) {
  EXPECT_EQ(partOf("token_embd", true, false), StepPart::Host);
  EXPECT_EQ(partOf("layer 3 rope_k", true, false), StepPart::Host);
  EXPECT_EQ(partOf("layer 3 rope_k", false, false), StepPart::Hops);
  EXPECT_EQ(partOf("layer 12 attn_k", false, true), StepPart::Matrix);
  EXPECT_EQ(partOf("layer 12 ffn_gated", false, true), StepPart::Vectors);
  EXPECT_EQ(partOf("layer 12 ffn_gated gather", false, true),
            StepPart::Collectives);
  EXPECT_EQ(partOf("layer 1 attn_residual own", true, false), StepPart::Hops);
  EXPECT_EQ(partOf("return", true, false), StepPart::Hops);
  EXPECT_EQ(partOf("return", true, true), StepPart::Host);
  EXPECT_EQ(partOf("layer 0 novelty", true, true), StepPart::Other);
  EXPECT_EQ(layerOf("layer 12 attn_k"), 12);
  EXPECT_EQ(layerOf("output"), -1);
}

/// A read at tick 0 that is done `timing.read` ticks later for each op; ends
/// are moved by the instruction's tick.
struct ByHand {
  Machine machine = *loadMachine("lpu-small-node");
  CompiledStep step;

  ByHand() {
    Program part;
    part.locations = {"layer 0 attn_q", "layer 0 attention", "step"};
    add(part, 0, 10);
    add(part, 1, 30);
    add(part, 2, 50);
    // Two vectors of a tile install while attention runs.
    Instruction install{13 - machine.timing.install, 0, InstallOp{}};
    std::get<InstallOp>(install.operation).shape = {2, 1, 1, 0};
    part.instructions.push_back(install);
    part.predictedTicks = 60;
    step.system.parts = {part};
    step.parts.resize(1);
    step.stages = {{0, 0, false}, {0, 4, false}};
    for (uint32_t stage : {0u, 1u}) {
      for (uint32_t rank : {0u, 1u}) {
        step.system.chips.push_back(
            {int32_t(2 * stage + rank), 0, stage, rank, Tick(100 * stage), {}});
      }
    }
    step.system.predictedTicks = 165;
  }
  void add(Program &part, uint32_t location, Tick done) const {
    part.instructions.push_back(
        {done - machine.timing.read, location, ReadOp{}});
  }
};

TEST(StepParts, EachTickToTheOpThatEndsNextInItsOwnLayer) {
  ByHand hand;
  StepParts parts = stepParts(hand.step, hand.machine);
  // attn_q ends at 14 (its install), attention at 30, the stage at 50; then the
  // same from tick 100 on, and what is left at the end is the last op's.
  EXPECT_EQ(of(parts, StepPart::Matrix), 14 + (114 - 50));
  EXPECT_EQ(of(parts, StepPart::Attention), 16 + 16);
  EXPECT_EQ(of(parts, StepPart::Hops), 20 + 20 + 15);
  EXPECT_EQ(parts.ticks, 165);
  EXPECT_TRUE(parts.addsUp());
  ASSERT_EQ(parts.layers.size(), 5u);
  EXPECT_EQ(parts.layers[0][size_t(StepPart::Matrix)], 14);
  EXPECT_EQ(parts.layers[4][size_t(StepPart::Matrix)], 64);
  EXPECT_EQ(parts.layers[4][size_t(StepPart::Attention)], 16);
  EXPECT_EQ(parts.layers[0][size_t(StepPart::Hops)], 0);
  // Ticks 11 and 12 of each stage.
  EXPECT_EQ(parts.step[size_t(StepPart::Matrix)].installing, 4);
  EXPECT_EQ(parts.step[size_t(StepPart::Attention)].installing, 0);
}

TEST(StepParts, ALostTickDoesNotAddUp) {
  ByHand hand;
  StepParts parts = stepParts(hand.step, hand.machine);
  parts.step[size_t(StepPart::Hops)].ticks -= 1;
  EXPECT_FALSE(parts.addsUp());
  parts = stepParts(hand.step, hand.machine);
  parts.layers[0][size_t(StepPart::Attention)] += 100;
  EXPECT_FALSE(parts.addsUp());
}

// What the compiler predicts, against what simulated chips did.
TEST(StepParts, AgreesWithTheSimulator) {
  for (SplitOptions split : {SplitOptions{1, 1}, {2, 1}, {2, 2}, {1, 3}}) {
    auto set = setOf("tinystories-656k", "lpu-small-node", split);
    const CompiledStep &step = stepOf(*set, 1, 100);
    StepParts parts = stepParts(step, set->machine());
    EXPECT_TRUE(parts.addsUp());
    EXPECT_EQ(parts.ticks, step.system.predictedTicks);
    EXPECT_EQ(of(parts, StepPart::Other), 0);
    EXPECT_EQ(parts.layers.size(), size_t(set->config().layers));
    EXPECT_EQ(of(parts, StepPart::Collectives) > 0, split.tensorParallel > 1);
    EXPECT_EQ(of(parts, StepPart::Hops) > 0, split.stages > 1);
    EXPECT_GE(of(parts, StepPart::Host), 2 * set->machine().timing.host);
    sim::SystemSimulator simulator(set->machine());
    auto result = simulator.run(step.system, {});
    ASSERT_TRUE(result) << result.error().message;
    TimeSpent spent = timeSpent(step.system, *result);
    auto kind = [&](const char *location) { return spent[opKind(location)]; };
    EXPECT_EQ(of(parts, StepPart::Matrix) + of(parts, StepPart::Vectors),
              kind("attn_norm") + kind("attn_q") + kind("attn_output") +
                  kind("ffn_up") + kind("attn_residual") + kind("output") +
                  kind("argmax"));
    for (const PartTicks &part : parts.step) {
      EXPECT_LE(part.installing, part.ticks);
      EXPECT_LE(part.vectors, part.ticks);
      EXPECT_LE(part.crossing, part.ticks);
    }
  }
}

} // namespace
} // namespace orrery::runtime
