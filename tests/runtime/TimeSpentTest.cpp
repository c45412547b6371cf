#include "runtime/TimeSpent.h"

#include "tests/runtime/TinySession.h"

#include <numeric>

namespace orrery::runtime {
namespace {

sim::SystemResult onOneChip(const sim::StepResult &result) {
  return {result.ticks, {{0, 1, result}}, {0}, {}};
}

TEST(TimeSpent, EachTickGoesToTheOpThatEndsNext) {
  Program program;
  program.locations = {"token_embd", "layer 0 attn_q", "layer 0 attention"};
  sim::StepResult result;
  auto add = [&](uint32_t location, Tick completed) {
    program.instructions.push_back({0, location, ReadOp{}});
    result.completed.push_back(completed);
  };
  add(1, 10);
  add(0, 30);
  add(1, 50); // attn_q: its last effect counts
  add(2, 45); // attention ends under it
  result.ticks = 60;
  TimeSpent spent = timeSpent(onOneChip(program), onOneChip(result));
  EXPECT_EQ(spent[opKind("token_embd")], 30);
  EXPECT_EQ(spent[opKind("layer 7 attention")], 15);
  EXPECT_EQ(spent[opKind("layer 7 attn_k")], 5 + 10);
  EXPECT_EQ(std::accumulate(spent.begin(), spent.end(), Tick(0)), 60);
}

// Of the ranks of a stage one counts; of stages, each at its own start.
TEST(TimeSpent, StagesFollowEachOther) {
  Program program;
  program.locations = {"layer 0 attn_q", "layer 0 ffn_up"};
  program.instructions = {{0, 0, ReadOp{}}, {0, 1, ReadOp{}}};
  sim::StepResult result;
  result.completed = {10, 30};
  result.ticks = 40;
  SystemProgram system;
  system.parts = {program};
  for (uint32_t stage : {0u, 1u}) {
    for (uint32_t rank : {0u, 1u}) {
      system.chips.push_back(
          {int32_t(2 * stage + rank), 0, stage, rank, Tick(100 * stage), {}});
    }
  }
  TimeSpent spent =
      timeSpent(system, {140, {{0, 4, result}}, {0, 0, 0, 0}, {}});
  EXPECT_EQ(spent[opKind("attn_q")], 10 + (110 - 30));
  EXPECT_EQ(spent[opKind("ffn_up")], 20 + 20 + 10);
}

TEST(TimeSpent, AStepOfTheModelIsCountedWholeAndByKnownOps) {
  for (SplitOptions split : {SplitOptions{1, 1}, {2, 1}, {2, 2}}) {
    SessionOptions options = tinyOptions();
    options.machine = "lpu-small-node";
    options.split = split;
    auto session = openTiny(options);
    std::vector<int32_t> ids = {1, 300, 301, 302};
    auto records = session->read(ids);
    ASSERT_TRUE(records) << records.error().message;
    for (const StepRecord &record : *records) {
      TimeSpent spent = timeSpent(*record.program, record.result);
      EXPECT_EQ(std::accumulate(spent.begin(), spent.end(), Tick(0)),
                record.result.ticks);
      EXPECT_EQ(spent[opKind("nobody")], 0);
      EXPECT_GE(spent[opKind("token_embd")], session->machine().timing.host);
      EXPECT_GE(spent[opKind("return")], session->machine().timing.host);
      EXPECT_EQ(spent[opKind("layer 0 attention gather")] > 0,
                split.tensorParallel > 1);
      EXPECT_EQ(spent[opKind("step")] > 0, split.stages > 1);
    }
  }
}

} // namespace
} // namespace orrery::runtime
