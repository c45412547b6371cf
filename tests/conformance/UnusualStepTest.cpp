// Steps that no importer makes but llm allows: matrices that feed matrices, an
// embedding that feeds one. Bits as the interpreter has them.
#include "compiler/Compile.h"
#include "dialects/llm/Interpreter.h"
#include "models/RandomWeights.h"
#include "simulator/Simulator.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <bit>

namespace orrery {
namespace {

// 96 elements fill a vector of 64 lanes and half of another.
constexpr char kStep[] = R"(
func.func @step(%ids: tensor<3xi32>) -> (tensor<3x50xf32>, tensor<3xi32>)
    attributes {llm.tokens = 3 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "unusual"} {
  %x = llm.embed %ids table("token_embd.weight") format(q8_0) vocab(50)
     : tensor<3xi32> -> tensor<3x96xf32>
  %y = llm.linear %x weight("blk.0.attn_q.weight") format(FIRST)
     : tensor<3x96xf32> -> tensor<3x96xf32>
  %z = llm.linear %y weight("blk.0.attn_k.weight") format(SECOND)
     : tensor<3x96xf32> -> tensor<3x96xf32>
  %l = llm.linear %z weight("output.weight") format(q8_0)
     : tensor<3x96xf32> -> tensor<3x50xf32>
  %n = llm.argmax %l : tensor<3x50xf32> -> tensor<3xi32>
  return %l, %n : tensor<3x50xf32>, tensor<3xi32>
})";

models::ModelConfig configOf() {
  models::ModelConfig c;
  c.name = "unusual";
  c.architecture = "llama";
  c.layers = 1;
  c.hidden = 96;
  c.heads = c.kvHeads = 3;
  c.headDim = c.ropeDimension = 32;
  c.intermediate = 96;
  c.vocab = 50;
  c.contextLength = 64;
  c.normEps = 1e-5f;
  return c;
}

std::string stepText(const std::string &first, const std::string &second) {
  std::string text = kStep;
  text.replace(text.find("FIRST"), 5, first);
  text.replace(text.find("SECOND"), 6, second);
  return text;
}

/// The embeddings of `ids` as the host sends them: lanes past 96 are zero.
std::vector<float> hostVectors(const models::WeightSource &weights,
                               const std::vector<int32_t> &ids, int32_t lanes) {
  auto table = *weights.matrix("token_embd.weight", models::WeightFormat::Q8_0);
  std::vector<float> out(size_t(ids.size()) * 2 * size_t(lanes));
  for (size_t t = 0; t < ids.size(); ++t) {
    std::vector<float> row = table.dequantizedRow(ids[t]);
    std::copy(row.begin(), row.end(), out.begin() + int64_t(t) * 2 * lanes);
  }
  return out;
}

class UnusualStep
    : public ::testing::TestWithParam<std::pair<const char *, const char *>> {};

TEST_P(UnusualStep, HasTheInterpretersBits) {
  auto context = makeContext();
  auto step = mlir::parseSourceString<mlir::ModuleOp>(
      stepText(GetParam().first, GetParam().second), context.get());
  ASSERT_TRUE(step);
  CompileRequest request;
  request.machine = "lpu-small";
  auto compiled = compileModule(std::move(step), configOf(), request);
  ASSERT_TRUE(compiled) << compiled.error().message;

  models::RandomWeights weights(configOf(), 11);
  Machine machine = *loadMachine("lpu-small");
  SramImage image(machine);
  ASSERT_TRUE(
      fillImage(compiled->parts.front().image, machine, weights, image));
  std::vector<int32_t> ids = {7, 0, 49};
  sim::Simulator simulator(machine, std::move(image));
  auto result = simulator.run(compiled->program(),
                              {0, 3, hostVectors(weights, ids, machine.lanes)});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->ticks, compiled->program().predictedTicks);

  llm::Interpreter interpreter(weights);
  auto expected = interpreter.run(
      *compiled->step->getOps<mlir::func::FuncOp>().begin(), ids, 0);
  ASSERT_TRUE(expected) << expected.error().message;
  for (uint32_t t = 0; t < 3; ++t) {
    std::vector<float> found = simulator.logits(compiled->program(), t);
    auto row = std::as_const(expected->logits).row(t);
    ASSERT_EQ(found.size(), row.size());
    for (size_t n = 0; n < found.size(); ++n) {
      ASSERT_EQ(std::bit_cast<uint32_t>(found[n]),
                std::bit_cast<uint32_t>(row[n]))
          << "token " << t << " logit " << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, UnusualStep,
                         ::testing::Values(std::pair("q8_0", "q8_0"),
                                           std::pair("f16", "q4_0"),
                                           std::pair("q4_0", "f16"),
                                           std::pair("f16", "f16")));

} // namespace
} // namespace orrery
