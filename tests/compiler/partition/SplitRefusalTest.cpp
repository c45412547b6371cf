// What is refused with which words, and what is said to help.
#include "tests/compiler/partition/Cabling.h"
#include "tests/compiler/partition/SplitShapes.h"

namespace orrery::partition {
namespace {

// What of a chip binds is named, and what it has to hold.
TEST(SplitRefusal, NoRoomNamesTheLimit) {
  Machine node = preset("lpu-v1-node");
  auto of = [&](int64_t layers, int64_t context) {
    StepShape shape = uniformShape(llama(layers, 2048, 16, 16, 5632),
                                   WeightFormat::Q8, true, context);
    shape.bucket = 320;
    return refusal(node, shape, {1, 1});
  };
  std::string bank = of(1, 320 * 40);
  EXPECT_NE(bank.find(" B too many for the one bank of data slices for tiles "
                      "(KV cache: "),
            std::string::npos)
      << bank;
  std::string spilled = of(4, 320 * 8);
  EXPECT_NE(spilled.find(" of weights beyond the weight slices: "),
            std::string::npos)
      << spilled;
}

TEST(SplitRefusal, Impossible) {
  Machine node = preset("lpu-small-node");
  EXPECT_EQ(refusal(node, small(), {9, 0}),
            "tp=9: expected at most the 8 chips of lpu-small-node");
  EXPECT_EQ(refusal(node, small(), {4, 3}),
            "tp=4, pp=3: expected at most the 8 chips of lpu-small-node");
  EXPECT_EQ(refusal(node, small(), {0, 9}),
            "pp=9: expected at most the 8 chips of lpu-small-node");
  EXPECT_EQ(refusal(node, small(), {0, 14}),
            "pp=14: expected at most 13 stages, three a layer (attention, gate "
            "and up, down) and the head; llama has 4 layers");
  EXPECT_EQ(refusal(node, small(), {-1, 0}),
            "tp=-1: expected at least 1, or 0 to choose");
  EXPECT_EQ(refusal(node, small(), {INT64_MAX, INT64_MAX}),
            "tp=9223372036854775807, pp=9223372036854775807: expected at most "
            "13 stages, three a layer (attention, gate and up, down) and the "
            "head; llama has 4 layers");
  EXPECT_EQ(refusal(node, small(), {INT64_MAX, 2}),
            "tp=9223372036854775807, pp=2: expected at most the 8 chips of "
            "lpu-small-node");
  EXPECT_EQ(refusal(preset("lpu-small"), small(), {1, 2}),
            "tp=1, pp=2: expected at most the 1 chips of lpu-small");
}

TEST(SplitRefusal, NoCables) {
  Machine ring = preset("lpu-small-ring");
  EXPECT_EQ(refusal(ring, small(), {3, 1}),
            "lpu-small-ring: no 3 chips are linked each to each or in a ring; "
            "the smallest preset that would do is lpu-small-node; tp=1, pp=1 "
            "would fit");
  // Six chips in a row: one by one, but not two by two.
  Cabling row(6);
  for (int32_t chip = 0; chip < 5; ++chip) {
    row.link(chip, chip + 1);
  }
  EXPECT_TRUE(chooseSplit(row.machine(), small(), {1, 4}));
  EXPECT_EQ(refusal(row.machine(), small(), {2, 2}),
            "cabled: tp=2, pp=2: there is no chain of 2 groups of 2 chips "
            "linked each to each and rank to rank; the longest found has 1; "
            "the smallest preset that would do is lpu-small-ring; tp=1, pp=1 "
            "would fit");
}

TEST(SplitRefusal, UnitsThatAreTooSmall) {
  Machine node = preset("lpu-small-node");
  StepShape wide = small();
  wide.headDim = 96;
  EXPECT_EQ(refusal(node, wide),
            "llama on lpu-small-node, tp=8: a head of 96 needs 96, a vector of "
            "the chip has 64");
  StepShape tall = small();
  tall.hidden = 1 << 17;
  EXPECT_EQ(refusal(node, tall, {8, 1}),
            "llama on lpu-small-node, tp=8: a row of activations needs 2048, a "
            "plane has 1024");
  StepShape lengthy = small();
  lengthy.bucket = lengthy.context = 1 << 17;
  EXPECT_NE(refusal(node, lengthy, {1, 1}).find("attention over 131072"),
            std::string::npos);
}

TEST(SplitRefusal, NoRoomSaysWhatWouldDo) {
  std::string message = refusal(preset("lpu-v1"), llama7b());
  EXPECT_EQ(message.rfind("llama does not fit lpu-v1: tp=1, pp=1 takes ", 0),
            0u)
      << message;
  EXPECT_NE(message.find(" a chip in stage 0 (weights "), std::string::npos);
  EXPECT_NE(message.find("a chip has 230686720 B, "), std::string::npos);
  EXPECT_NE(message.find("; the smallest preset that would do is lpu-v1-rack"),
            std::string::npos)
      << message;
  // The preset that is named does, and none with less SRAM.
  for (const std::string &name : presetNames()) {
    Machine machine = *loadMachine(name);
    Bytes bytes = machine.sramBytes() * machine.system.chips;
    Machine rack = preset("lpu-v1-rack");
    bool fits = bool(findSplit(machine, llama7b(), {}));
    EXPECT_TRUE(name != "lpu-v1-rack" || fits);
    EXPECT_FALSE(bytes < rack.sramBytes() * rack.system.chips && fits) << name;
  }
}

TEST(SplitRefusal, NoRoomSaysTheCheapestChange) {
  Machine node = preset("lpu-v1-node");
  EXPECT_NE(refusal(preset("lpu-v1-576"), llama7b(), {8, 2})
                .find("; tp=8, pp=8 would fit"),
            std::string::npos)
      << refusal(preset("lpu-v1-576"), llama7b(), {8, 2});
  // 13B-like caches: f16 does not fit, q8 does.
  auto shape =
      uniformShape(llama(16, 2048, 16, 16, 5632), WeightFormat::Q8, true, 0);
  for (int64_t context = 320;; context += 320) {
    ASSERT_LT(context, 320 * 200) << "no context is too long";
    shape.bucket = 320;
    shape.context = context;
    if (!findSplit(node, shape, {})) {
      break;
    }
  }
  EXPECT_NE(refusal(node, shape).find("; a q8 KV cache would fit"),
            std::string::npos)
      << refusal(node, shape);
  // The context before that one fitted.
  shape.halfKv = false;
  int64_t longest = 0;
  for (int64_t context = 320;; context += 320) {
    shape.context = context;
    if (!findSplit(node, shape, {})) {
      break;
    }
    longest = context;
  }
  EXPECT_NE(
      refusal(node, shape)
          .find("; a context of " + std::to_string(longest) + " would fit"),
      std::string::npos)
      << refusal(node, shape);
}

} // namespace
} // namespace orrery::partition
