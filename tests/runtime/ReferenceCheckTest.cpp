// The GPU reference beside the interpreter: equal as it is, and a difference in
// what it was given is traced to the op that reads it.
#include "runtime/ReferenceCheck.h"

#include "compiler/import/ImportModel.h"
#include "tests/runtime/ChangedModel.h"

#include "mlir/IR/MLIRContext.h"

namespace orrery::runtime {
namespace {

compiler::ImportOptions importOptions() {
  compiler::ImportOptions options;
  options.tensorFormats = compiler::storedFormats(tinyModel().gguf());
  options.context = 64;
  return options;
}

/// The interpreter's values for `ids`, as one step.
class Truth {
public:
  Truth() {
    compiler::ImportOptions options = importOptions();
    options.tokens = 48;
    module = compiler::importModel(context, tinyModel().config(), options);
  }

  Expected<llm::StepOutput> run(std::span<const int32_t> ids,
                                uint32_t position) {
    return interpreter.run(*module->getOps<mlir::func::FuncOp>().begin(), ids,
                           position);
  }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llm::Interpreter interpreter{tinyModel()};
};

/// A check of `weights` that has read a prompt of `count` ids and a token.
Expected<ReferenceCheck> checkOf(const models::WeightSource &weights,
                                 size_t count) {
  auto check =
      ReferenceCheck::open(weights, importOptions(), gpu::Backend::Emulated);
  if (!check) {
    return check;
  }
  Truth truth;
  std::vector<int32_t> ids = {1, 300, 301, 302, 17};
  while (ids.size() < count) {
    ids.push_back(int32_t(ids.size() * 37 % 500));
  }
  for (auto [from, size] :
       {std::pair(size_t(0), count - 1), std::pair(count - 1, size_t(1))}) {
    auto part = std::span(ids).subspan(from, size);
    auto expected = truth.run(part, uint32_t(from));
    EXPECT_TRUE(expected) << expected.error().message;
    if (Status ok = check->add(part, uint32_t(from), *expected); !ok) {
      return ok.error();
    }
  }
  return check;
}

TEST(ReferenceCheck, NothingDiffers) {
  // More ids than the reference takes at once.
  auto check = checkOf(tinyModel(), 40);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->bits().rows(), 40u);
  EXPECT_EQ(check->bits().values(), 40u * size_t(tinyModel().config().vocab));
  EXPECT_EQ(check->bits().different(), 0u);
  EXPECT_EQ(check->bits().choices(), 40u);
  EXPECT_EQ(check->bits().otherChoices(), 0u);
  EXPECT_EQ(check->backendText(), "emulated on the host");
  auto first = check->firstDifference(tinyModel());
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->has_value());
}

struct Case {
  const char *tensor, *op, *kind;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.tensor; }

class Planted : public testing::TestWithParam<Case> {};

TEST_P(Planted, NamesTheOpThatReadsIt) {
  ChangedModel weights;
  weights.tensor = GetParam().tensor;
  auto check = checkOf(weights, 6);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_GT(check->bits().different(), 0u);
  auto first = check->firstDifference(tinyModel());
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(first->has_value());
  EXPECT_EQ((*first)->op, GetParam().op);
  EXPECT_EQ((*first)->kind, GetParam().kind);
  EXPECT_EQ((*first)->at.position, 0u);
  EXPECT_EQ((*first)->at.element, 0u);
  EXPECT_NE((*first)->at.expected, (*first)->at.found);
}

INSTANTIATE_TEST_SUITE_P(
    Tensors, Planted,
    testing::Values(
        Case{"blk.0.attn_q.weight", "layer 0 attn_q", "llm.linear"},
        Case{"blk.1.attn_v.weight", "layer 1 attn_v", "llm.linear"},
        Case{"blk.2.attn_output.weight", "layer 2 attn_output", "llm.linear"},
        Case{"blk.3.ffn_gate.weight", "layer 3 ffn_gate", "llm.linear"},
        Case{"blk.2.ffn_norm.weight", "layer 2 ffn_norm", "llm.rms_norm"},
        Case{"output_norm.weight", "output_norm", "llm.rms_norm"},
        // Of the table, id 0's row: no token reads it, the head does.
        Case{"token_embd.weight", "output", "llm.linear"}));

// Position 0 is not turned.
TEST(ReferenceCheck, RotationsAreOpsOfTheirOwn) {
  ChangedModel weights;
  weights.modelConfig.ropeTheta *= 1.5;
  auto check = checkOf(weights, 6);
  ASSERT_TRUE(check) << check.error().message;
  auto first = check->firstDifference(tinyModel());
  ASSERT_TRUE(first && first->has_value());
  EXPECT_EQ((*first)->op, "layer 0 rope_q");
  EXPECT_EQ((*first)->kind, "llm.rope");
  EXPECT_EQ((*first)->at.position, 1u);
}

TEST(ReferenceCheck, SaysWhatDoesNotOpen) {
  ChangedModel weights;
  weights.modelConfig.hidden *= 2;
  auto check =
      ReferenceCheck::open(weights, importOptions(), gpu::Backend::Emulated);
  ASSERT_FALSE(check);
  EXPECT_NE(check.error().message.find("expected shape"), std::string::npos)
      << check.error().message;
}

} // namespace
} // namespace orrery::runtime
