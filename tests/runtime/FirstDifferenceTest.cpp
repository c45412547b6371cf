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
  return [tensor](const ImagePlan &plan, SramImage &image) {
    for (const TileFill &fill : plan.tiles) {
      if (fill.tensor == tensor) {
        *image.vector(int32_t(fill.place.getSlice()),
                      int32_t(fill.place.getBank()), fill.place.getBase()) ^=
            0x40;
        return;
      }
    }
  };
}

/// Flips a high bit of the mantissa of the table's first f32.
auto flipTable(const std::string &tensor) {
  return [tensor](const ImagePlan &plan, SramImage &image) {
    for (const TableFill &fill : plan.tables) {
      if (fill.tensor == tensor) {
        *image.vector(int32_t(fill.place.getSlice()) + 2,
                      int32_t(fill.place.getBank()), fill.place.getBase()) ^=
            0x40;
        return;
      }
    }
  };
}

using Fault = std::function<void(const ImagePlan &, SramImage &)>;

std::optional<OpDifference> find(const Fault &fault) {
  SessionOptions options = tinyOptions();
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
  Fault fault;
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

// Position 0 is not turned: only from position 1 on do the tables matter.
TEST(FirstDifference, RopeTableIsPartOfAttention) {
  auto found = find([](const ImagePlan &plan, SramImage &image) {
    for (const TableFill &fill : plan.tables) {
      if (fill.tensor == "rope.sin") {
        for (int32_t plane = 0; plane < 4; ++plane) {
          image.vector(int32_t(fill.place.getSlice()) + plane,
                       int32_t(fill.place.getBank()),
                       fill.place.getBase() + 1)[0] ^= 0x04;
        }
      }
    }
  });
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->op, "layer 0 attention");
  EXPECT_EQ(found->kind, "llm.attention");
  EXPECT_EQ(found->at.position, 1u);
}

} // namespace
} // namespace orrery::runtime
