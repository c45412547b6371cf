#include "runtime/timing/Pipelining.h"

#include "simulator/SystemSimulator.h"
#include "tests/runtime/timing/Shapes.h"

namespace orrery::runtime {
namespace {

/// Stages that follow each other at the given starts, each `ticks` long.
StepTimes timesOf(std::vector<std::pair<Tick, Tick>> stages,
                  std::vector<std::vector<HeldVector>> links,
                  int32_t bufferVectors) {
  StepTimes times(onOneChip(Program{}), *loadMachine("lpu-small"));
  times.stages.clear();
  for (auto [start, ticks] : stages) {
    times.stages.push_back({0, start, ticks, 0});
    times.ticks = start + ticks;
  }
  times.links = std::move(links);
  times.bufferVectors = bufferVectors;
  return times;
}

TEST(Pipelining, TheSlowestStageSaysHowOften) {
  StepTimes times = timesOf({{0, 100}, {110, 130}, {250, 90}}, {{}, {}}, 8);
  EXPECT_EQ(times.slowest(), 1u);
  EXPECT_EQ(times.interval(), 130);
  EXPECT_EQ(times.inFlight(), 3); // 340 ticks
  times.stages[2].linkFree = 140;
  EXPECT_EQ(times.interval(), 140);
}

// A step of other stages after this one: no stage may start before it is free.
TEST(Pipelining, AStepAfterAnother) {
  StepTimes before = timesOf({{0, 100}, {110, 130}}, {{}}, 8);
  StepTimes after = timesOf({{0, 300}, {310, 300}}, {{}}, 8);
  EXPECT_EQ(follow(before, after), 100);
  EXPECT_EQ(follow(after, before), 500);
}

// Rows that are sent early and received late stand in the buffer: two tokens'
// of them fit a buffer of 16, not one of 15.
TEST(Pipelining, ABufferHoldsTheNextTokenBack) {
  std::vector<HeldVector> rows = {{10, 190, 8}};
  auto timesWith = [&](int32_t buffer) {
    return timesOf({{0, 100}, {180, 100}}, {rows}, buffer);
  };
  EXPECT_EQ(timesWith(16).interval(), 100);
  EXPECT_EQ(timesWith(15).interval(), 181);
  EXPECT_EQ(follow(timesWith(15), timesWith(15)), 181);
}

// Three tokens' rows never meet.
TEST(Pipelining, NoVectorWaitsForTwoTokens) {
  std::vector<HeldVector> rows = {{0, 299, 1}};
  EXPECT_EQ(timesOf({{0, 100}, {290, 100}}, {rows}, 1000).interval(), 150);
}

struct Case {
  const char *shape, *machine;
  SplitOptions split;
  int64_t tokens, positions;
};

// At the distance that is derived two steps run side by side on the simulator,
// which knows of ports, streams, buffers and links by itself; and they end when
// they should.
TEST(Pipelining, TwoStepsAtThatDistanceCanBeSimulated) {
  for (const Case &c :
       {Case{"tinystories-656k", "lpu-small-node", {2, 2}, 1, 64},
        {"tinystories-656k", "lpu-small-node", {1, 2}, 1, 200},
        {"tinystories-656k", "lpu-small-node", {4, 2}, 3, 64},
        {"stories15m", "lpu-v1-node", {2, 3}, 1, 256},
        {"stories15m", "lpu-v1-node", {1, 3}, 20, 256}}) {
    auto set = setOf(c.shape, c.machine, c.split);
    const CompiledStep &step = stepOf(*set, c.tokens, c.positions);
    StepTimes times(step.system, set->machine());
    Tick each = times.interval();
    EXPECT_LT(each, times.ticks);
    EXPECT_GE(each, times.stages[times.slowest()].ticks);
    EXPECT_GE(times.inFlight(), c.split.stages);
    sim::SystemSimulator simulator(holdingAllText(set->machine()));
    auto result = simulator.run(twice(step.system, each), {});
    ASSERT_TRUE(result) << c.shape << ": " << result.error().message;
    EXPECT_EQ(result->ticks, times.ticks + each) << c.shape;
  }
}

// The simulator refuses what overlaps in a stage.
TEST(Pipelining, StepsThatAreTooCloseCannot) {
  auto set = setOf("tinystories-656k", "lpu-small-node", {2, 2});
  const CompiledStep &step = stepOf(*set, 1, 64);
  StepTimes times(step.system, set->machine());
  sim::SystemSimulator simulator(holdingAllText(set->machine()));
  auto result = simulator.run(twice(step.system, times.interval() / 2), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message.find(" is dry"), std::string::npos);
}

} // namespace
} // namespace orrery::runtime
