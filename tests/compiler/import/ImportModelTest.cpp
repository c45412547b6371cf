// Imports of shapes without weights: every tensor of the model is named, in its
// shape, and options do what they say.
#include "compiler/import/ImportModel.h"

#include <gtest/gtest.h>

namespace orrery::compiler {
namespace {

models::ModelConfig smallConfig() {
  models::ModelConfig config;
  config.name = "small";
  config.architecture = "llama";
  config.layers = 3;
  config.hidden = 40;
  config.heads = 6;
  config.kvHeads = 3;
  config.headDim = 24; // not hidden / heads
  config.intermediate = 100;
  config.vocab = 67;
  config.contextLength = 96;
  config.normEps = 1e-6f;
  config.ropeTheta = 500000;
  config.ropePairing = models::RopePairing::Half;
  config.ropeDimension = 16;
  return config;
}

struct Named {
  std::string name;
  int64_t rows;
  int64_t cols;
  auto operator<=>(const Named &) const = default;
};

int64_t width(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(1);
}

/// The tensors that ops of `module` name, with the shapes they imply, sorted.
std::vector<Named> namedTensors(mlir::ModuleOp module) {
  std::vector<Named> tensors;
  module.walk([&](llm::EmbedOp op) {
    tensors.push_back(
        {op.getTable().str(), op.getVocab(), width(op.getResult())});
  });
  module.walk([&](llm::RmsNormOp op) {
    tensors.push_back({op.getWeight().str(), 1, width(op.getX())});
  });
  module.walk([&](llm::LinearOp op) {
    tensors.push_back(
        {op.getWeight().str(), width(op.getResult()), width(op.getX())});
  });
  std::sort(tensors.begin(), tensors.end());
  return tensors;
}

class ImportModel : public testing::Test {
protected:
  mlir::OwningOpRef<mlir::ModuleOp> import(const models::ModelConfig &config,
                                           const ImportOptions &options = {}) {
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            message = diagnostic.str();
                                            return mlir::success();
                                          });
    return importModel(context, config, options);
  }

  mlir::MLIRContext context;
  std::string message;
};

TEST_F(ImportModel, NamesEveryTensorOnce) {
  for (bool tied : {false, true}) {
    models::ModelConfig config = smallConfig();
    config.tiedEmbeddings = tied;
    std::vector<Named> expected;
    for (const models::TensorShape &shape : models::expectedTensors(config)) {
      expected.push_back({shape.name, shape.rows, shape.cols});
    }
    if (tied) { // once as the table, once as the head
      expected.push_back({"token_embd.weight", config.vocab, config.hidden});
    }
    std::sort(expected.begin(), expected.end());
    auto module = import(config);
    ASSERT_TRUE(module) << message;
    EXPECT_EQ(namedTensors(*module), expected);
  }
}

TEST_F(ImportModel, TakesTheModelsNumbers) {
  auto module = import(smallConfig());
  ASSERT_TRUE(module) << message;
  auto step = module->lookupSymbol<mlir::func::FuncOp>("step");
  const llm::StepInfo info = llm::stepInfo(step);
  EXPECT_EQ(info.tokens, 1);
  EXPECT_EQ(info.bucket, 96);
  EXPECT_EQ(info.context, 96);
  EXPECT_EQ(info.model, "small");
  int64_t layers = 0;
  step.walk([&](llm::AttentionOp op) {
    EXPECT_EQ(op.getLayer(), layers++);
    EXPECT_EQ(op.getHeads(), 6);
    EXPECT_EQ(op.getKvHeads(), 3);
    EXPECT_EQ(op.getHeadDim(), 24);
    EXPECT_EQ(width(op.getQ()), 6 * 24);
    EXPECT_EQ(width(op.getK()), 3 * 24);
  });
  EXPECT_EQ(layers, 3);
  step.walk([&](llm::RopeOp op) {
    EXPECT_EQ(op.getRopeDim(), 16);
    EXPECT_EQ(op.getTheta().convertToDouble(), 500000);
    EXPECT_EQ(op.getPairing(), llm::RopePairing::Half);
  });
  step.walk([&](llm::RmsNormOp op) {
    EXPECT_EQ(op.getEps().convertToFloat(), 1e-6f);
  });
}

TEST_F(ImportModel, FormatsPerTensor) {
  ImportOptions options;
  options.weightFormat = llm::WeightFormat::Q4_0;
  options.tensorFormats["blk.1.ffn_down.weight"] = llm::WeightFormat::F16;
  options.kvFormat = llm::KvFormat::F16;
  auto module = import(smallConfig(), options);
  ASSERT_TRUE(module) << message;
  module->walk([&](llm::LinearOp op) {
    EXPECT_EQ(op.getFormat(), op.getWeight() == "blk.1.ffn_down.weight"
                                  ? llm::WeightFormat::F16
                                  : llm::WeightFormat::Q4_0);
  });
  module->walk([&](llm::AttentionOp op) {
    EXPECT_EQ(op.getKvFormat(), llm::KvFormat::F16);
  });
}

TEST_F(ImportModel, RefusesWhatDoesNotFit) {
  auto refuses = [&](const models::ModelConfig &config,
                     const ImportOptions &options) {
    message = "";
    EXPECT_FALSE(import(config, options));
    return message;
  };
  ImportOptions options;
  options.tokens = 0;
  EXPECT_EQ(
      refuses(smallConfig(), options),
      "small: expected 1 <= tokens <= bucket <= context, found 0, 96, 96");
  options = {};
  options.bucket = 97;
  EXPECT_EQ(
      refuses(smallConfig(), options),
      "small: expected 1 <= tokens <= bucket <= context, found 1, 97, 96");
  options = {};
  options.layers = 4;
  EXPECT_EQ(refuses(smallConfig(), options),
            "small: expected 1 to 3 layers, found 4");
  options = {};
  options.tensorFormats["blk.9.attn_q.weight"] = llm::WeightFormat::F16;
  EXPECT_EQ(refuses(smallConfig(), options),
            "small: no tensor is called blk.9.attn_q.weight");
  models::ModelConfig config = smallConfig();
  config.kvHeads = 4; // does not divide 6
  EXPECT_NE(refuses(config, {}), "");
}

// Llama-2-70B: 80 layers without a byte of weights.
TEST_F(ImportModel, PublishedShape) {
  models::ModelConfig config = smallConfig();
  config.layers = 80;
  config.hidden = 8192;
  config.heads = 64;
  config.kvHeads = 8;
  config.headDim = 128;
  config.intermediate = 28672;
  config.vocab = 32000;
  config.contextLength = 4096;
  config.ropeDimension = 128;
  auto module = import(config);
  ASSERT_TRUE(module) << message;
  EXPECT_EQ(namedTensors(*module).size(),
            models::expectedTensors(config).size());
}

// Whoever compiles a shape with more than a plain decoder has: what is missing
// is in the program's name, and another model is none.
TEST_F(ImportModel, WhatIsLeftOutIsInTheName) {
  models::ModelConfig config = smallConfig();
  auto nameOf = [&] {
    auto module = import(config);
    EXPECT_TRUE(module) << message;
    return llm::stepInfo(*module->getOps<mlir::func::FuncOp>().begin())
        .model.str();
  };
  EXPECT_EQ(nameOf(), "small");
  config.extras.qkvBias = true;
  config.extras.slidingWindow = 32;
  EXPECT_EQ(nameOf(),
            "small (without q, k and v biases; sliding window of 32)");
  config.extras.experts = 4;
  config.extras.expertsPerToken = 1;
  EXPECT_FALSE(import(config));
  EXPECT_EQ(message, "small: mixture of experts (4 experts, 1 a token) is not "
                     "supported: expected a dense model; `orrery zoo` and "
                     "`orrery kv` count it");
}

} // namespace
} // namespace orrery::compiler
