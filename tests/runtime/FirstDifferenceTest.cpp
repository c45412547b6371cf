// A fault in one tensor's bytes is traced to the op that reads it.
#include "runtime/FirstDifference.h"

#include "tests/runtime/TinySession.h"

#include <cmath>

namespace orrery::runtime {
namespace {

std::vector<int32_t> promptOf(const char *text) {
  return tinyModel().tokenizer()->encode(text);
}

/// Flips a high bit of the code of element (0, 0) of matrix `tensor`.
auto flipCode(const std::string &tensor) {
  return
      [tensor](const ChipProgram &, const ImagePlan &plan, SramImage &image) {
        for (const TileFill &fill : plan.tiles) {
          if (fill.tensor == tensor) {
            *image.vector(int32_t(fill.place.getSlice()),
                          int32_t(fill.place.getBank()),
                          fill.place.getBase()) ^= 0x40;
            return;
          }
        }
      };
}

/// Flips a high bit of the mantissa of the table's first f32.
auto flipTable(const std::string &tensor) {
  return
      [tensor](const ChipProgram &, const ImagePlan &plan, SramImage &image) {
        for (const TableFill &fill : plan.tables) {
          if (fill.tensor == tensor) {
            *image.vector(int32_t(fill.place.getSlice()) + 2,
                          int32_t(fill.place.getBank()),
                          fill.place.getBase()) ^= 0x40;
            return;
          }
        }
      };
}

std::optional<OpDifference> find(const AfterFill &fault,
                                 SessionOptions options = tinyOptions()) {
  options.afterFill = fault;
  auto ids = promptOf("Once upon a time, there was");
  auto found = findFirstDifference(tinyModel(), options, {ids, ids.size() - 2});
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : std::nullopt;
}

TEST(FirstDifference, NoneWithoutFault) {
  EXPECT_FALSE(find(nullptr).has_value());
}

struct Case {
  const char *name;
  AfterFill fault;
  const char *op, *kind;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.op; }

class Faults : public testing::TestWithParam<Case> {};

TEST_P(Faults, NamesTheOpThatReadsIt) {
  auto found = find(GetParam().fault);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->op, GetParam().op);
  EXPECT_EQ(found->kind, GetParam().kind);
  EXPECT_EQ(found->at.position, 0u);
  EXPECT_EQ(found->at.element, 0u);
  EXPECT_NE(found->at.expected, found->at.found);
  EXPECT_TRUE(std::isfinite(std::bit_cast<float>(found->at.found)));
}

INSTANTIATE_TEST_SUITE_P(
    All, Faults,
    testing::Values(
        Case{"Query", flipCode("blk.0.attn_q.weight"), "layer 0 attn_q",
             "llm.linear"},
        Case{"Value", flipCode("blk.1.attn_v.weight"), "layer 1 attn_v",
             "llm.linear"},
        Case{"AttentionOutput", flipCode("blk.2.attn_output.weight"),
             "layer 2 attn_output", "llm.linear"},
        Case{"Gate", flipCode("blk.3.ffn_gate.weight"), "layer 3 ffn_gate",
             "llm.linear"},
        Case{"Norm", flipTable("blk.2.ffn_norm.weight"), "layer 2 ffn_norm",
             "llm.rms_norm"},
        Case{"Head", flipCode("token_embd.weight"), "output", "llm.linear"}),
    [](const auto &info) { return info.param.name; });

// Position 0 is not turned: only from position 1 on do the sines matter.
TEST(FirstDifference, RopeRowsArePartOfAttention) {
  SessionOptions options = tinyOptions();
  options.chunk = 1;
  options.afterRows = [](const ChipProgram &, const ImagePlan &plan,
                         std::vector<float> &rows) {
    if (plan.host.back().kind == HostRows::Kind::Sine) {
      size_t lanes = size_t(plan.host.back().rows.lanes);
      for (size_t lane = rows.size() - lanes; lane < rows.size(); ++lane) {
        rows[lane] *= 1.5f;
      }
    }
  };
  auto found = find(nullptr, options);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->op, "layer 0 attention");
  EXPECT_EQ(found->kind, "llm.attention");
  EXPECT_EQ(found->at.position, 1u);
}

SessionOptions onFourChips() {
  SessionOptions options = tinyOptions();
  options.machine = "lpu-small-node";
  options.split = {2, 2};
  return options;
}

// One chip has the fault too, and names the op.
TEST(FirstDifference, OnChipsTheOpIsNamedByOneChip) {
  auto found = find(flipCode("blk.1.attn_v.weight"), onFourChips());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->op, "layer 1 attn_v");
  EXPECT_EQ(found->why, "");
}

// A fault of one rank's shard, which one chip does not have.
TEST(FirstDifference, OnlyTheSplitDiffers) {
  auto flip = flipCode("blk.2.ffn_gate.weight");
  auto found = find(
      [&](const ChipProgram &chip, const ImagePlan &plan, SramImage &image) {
        if (chip.stage == 1 && chip.rank == 1) {
          flip(chip, plan, image);
        }
      },
      onFourChips());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->op, "");
  EXPECT_EQ(found->why, "one chip gives the interpreter's logits");
  EXPECT_NE(found->at.expected, found->at.found);
}

} // namespace
} // namespace orrery::runtime
