#include "runtime/TimeSpent.h"

#include "tests/runtime/TinySession.h"

#include <numeric>

namespace orrery::runtime {
namespace {

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
  TimeSpent spent = timeSpent(program, result);
  EXPECT_EQ(spent[opKind("token_embd")], 30);
  EXPECT_EQ(spent[opKind("layer 7 attention")], 15);
  EXPECT_EQ(spent[opKind("layer 7 attn_k")], 5 + 10);
  EXPECT_EQ(std::accumulate(spent.begin(), spent.end(), Tick(0)), 60);
}

TEST(TimeSpent, AStepOfTheModelIsCountedWholeAndByKnownOps) {
  auto session = openTiny(tinyOptions());
  std::vector<int32_t> ids = {1, 300, 301, 302};
  auto records = session->read(ids);
  ASSERT_TRUE(records) << records.error().message;
  for (const StepRecord &record : *records) {
    TimeSpent spent = timeSpent(*record.program, record.result);
    EXPECT_EQ(std::accumulate(spent.begin(), spent.end(), Tick(0)),
              record.result.ticks);
    EXPECT_EQ(spent[opKind("nobody")], 0);
    EXPECT_GE(spent[opKind("token_embd")], session->machine().timing.host);
  }
}

} // namespace
} // namespace orrery::runtime
