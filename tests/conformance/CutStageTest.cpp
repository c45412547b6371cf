// Stages that end between gate and up and down, on shapes and systems on which
// the shard that crosses there is an odd one. Bits and ticks, as ever.
#include "tests/conformance/CaseRun.h"

#include <gtest/gtest.h>

namespace orrery::test {
namespace {

/// One layer on four stages of `tp` chips: attention, gate and up, down, head.
RandomCase cutCase(int64_t tp, const std::string &topology, int64_t nodeChips) {
  RandomCase c;
  c.seed = 1;
  c.machine = *loadMachine("lpu-small");
  auto chips = std::to_string(4 * tp);
  c.machine.system.json =
      R"({"chips": )" + chips + R"(, "node_chips": )" +
      std::to_string(nodeChips) + R"(, "topology": )" + topology +
      R"(, "source": {"chips": "assumed: a test", "node_chips": )" +
      R"("assumed: a test", "topology": "assumed: a test"}})";
  c.machine.link.ports = int32_t(4 * tp + 1);
  auto machine = parseMachine(formatMachine(c.machine), "cut");
  EXPECT_TRUE(machine) << machine.error().message;
  c.machine = machine ? *machine : c.machine;
  c.model.name = "cut";
  c.model.architecture = "llama";
  c.model.layers = 1;
  c.model.hidden = 96;
  c.model.heads = 6;
  c.model.kvHeads = 3;
  c.model.headDim = c.model.ropeDimension = 16;
  // Six blocks of 32, the last of which ends after 12.
  c.model.intermediate = 172;
  c.model.vocab = 71;
  c.model.contextLength = c.options.context = 80;
  c.model.normEps = 1e-5f;
  c.options.chunk = 5;
  c.options.split = {tp, 4};
  c.reads = {{3, 1, 4, 1, 5, 9, 2}, {6}, {5, 3, 5, 8}};
  return c;
}

const std::string kLinked = R"({"kind": "fully_connected"})";
const std::string kNodes = R"({"kind": "node_ring", "reach": 1})";

void expectHolds(const RandomCase &c) {
  CaseOutcome outcome = runCase(c);
  EXPECT_EQ(outcome.refusal, "") << c.text();
  EXPECT_EQ(outcome.failure, "") << c.text();
  EXPECT_EQ(outcome.stages, 4);
  EXPECT_EQ(outcome.cutStages, 1);
  EXPECT_GT(outcome.logits, 0);
}

TEST(CutStageTest, ThreeRanksLinkedEachToEach) {
  expectHolds(cutCase(3, kLinked, 12));
}

TEST(CutStageTest, ThreeRanksOfANodeInARingOfNodes) {
  expectHolds(cutCase(3, kNodes, 3));
}

// 96 lanes hold three blocks: the shard of a rank is one vector and more, or
// less than one, or nothing at all.
TEST(CutStageTest, ShardsOfAnyLength) {
  for (int64_t ffn : {31, 33, 64, 97, 160, 172, 300}) {
    for (int64_t tp : {1, 2, 3, 4}) {
      RandomCase c = cutCase(tp, kLinked, 4 * tp);
      c.model.intermediate = ffn;
      c.machine.lanes = ffn % 2 == 0 ? 64 : 96;
      expectHolds(c);
    }
  }
}

TEST(CutStageTest, EachFormatOfDown) {
  using llm::WeightFormat;
  for (auto down :
       {WeightFormat::F16, WeightFormat::Q4_0, WeightFormat::Q8_0}) {
    for (const char *products : {"", "column", "scatter", "reduce"}) {
      RandomCase c = cutCase(3, kLinked, 12);
      c.options.tensorFormats["blk.0.ffn_down.weight"] = down;
      c.options.split.products = products;
      expectHolds(c);
    }
  }
}

// Three stages of two layers, cut because it is asked for.
TEST(CutStageTest, WhereItIsAskedFor) {
  RandomCase c = cutCase(2, kLinked, 8);
  c.model.layers = 2;
  c.options.split = {2, 3, {}, true};
  CaseOutcome outcome = runCase(c);
  EXPECT_EQ(outcome.refusal + outcome.failure, "") << c.text();
  EXPECT_GT(outcome.cutStages, 0);
  c.options.split.cut = false;
  outcome = runCase(c);
  EXPECT_EQ(outcome.refusal + outcome.failure, "") << c.text();
  EXPECT_EQ(outcome.cutStages, 0);
}

} // namespace
} // namespace orrery::test
