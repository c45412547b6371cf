// The interpreter on made-up models: close to a forward pass in double, the
// same bits however the prompt is cut, and its errors.
#include "tests/dialects/llm/DoubleForward.h"
#include "tests/dialects/llm/Step.h"

#include "models/RandomWeights.h"

#include <cmath>
#include <random>

namespace orrery::llm {
namespace {

using compiler::ImportOptions;

/// Odd sizes on purpose: blocks of 32 end inside rows and heads.
models::ModelConfig randomConfig(std::mt19937 &random) {
  auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  models::ModelConfig config;
  config.name = "random";
  config.architecture = "llama";
  config.layers = pick({1, 2, 3});
  config.hidden = pick({32, 40, 72, 100});
  config.kvHeads = pick({1, 2, 3});
  config.heads = config.kvHeads * pick({1, 2, 3});
  config.headDim = pick({2, 8, 24, 32, 40, 80});
  config.intermediate = pick({31, 64, 172});
  config.vocab = pick({33, 67, 128});
  config.contextLength = 128;
  config.normEps = 1e-5f;
  config.ropeDimension = config.headDim > 2 ? config.headDim - pick({0, 2}) : 2;
  config.ropePairing =
      pick({0, 1}) ? models::RopePairing::Half : models::RopePairing::Adjacent;
  config.tiedEmbeddings = pick({0, 1});
  return config;
}

std::vector<int32_t> randomIds(std::mt19937 &random, int64_t vocab,
                               size_t count) {
  std::vector<int32_t> ids(count);
  for (int32_t &id : ids) {
    id = int32_t(random() % uint32_t(vocab));
  }
  return ids;
}

ImportOptions optionsOf(WeightFormat weights, KvFormat kv, int64_t tokens) {
  ImportOptions options;
  options.weightFormat = weights;
  options.kvFormat = kv;
  options.tokens = tokens;
  return options;
}

/// A model, its weights, and the step to run it.
struct RandomModel {
  RandomModel(std::mt19937 &random, WeightFormat weights, KvFormat kv,
              int64_t tokens)
      : config(randomConfig(random)), weights(config, random()),
        imported(config, optionsOf(weights, kv, tokens)),
        interpreter(this->weights) {}

  models::ModelConfig config;
  models::RandomWeights weights;
  ImportedStep imported;
  Interpreter interpreter;
};

/// The weights as the format keeps them, [rows, cols] f32.
std::vector<float> storedWeights(const models::WeightSource &source,
                                 const std::string &name, WeightFormat format) {
  auto matrix = source.matrix(name, format == WeightFormat::Q4_0
                                        ? models::WeightFormat::Q4_0
                                        : models::WeightFormat::Q8_0);
  if (!matrix || format == WeightFormat::F16) { // a vector, or rounded to f16
    return *source.vector(name);
  }
  std::vector<float> values;
  for (int64_t row = 0; row < matrix->rows; ++row) {
    const std::vector<float> part = matrix->dequantizedRow(row);
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

/// |a - b| / |b| over all logits.
double relativeError(const Tensor &a, const std::vector<double> &b) {
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    difference += (a.values[i] - b[i]) * (a.values[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

struct Formats {
  WeightFormat weights;
  KvFormat kv;
  double bound; ///< relative error of the logits
};

class AgainstDouble : public testing::TestWithParam<Formats> {};

TEST_P(AgainstDouble, RandomConfigs) {
  const Formats formats = GetParam();
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    RandomModel model(random, formats.weights, formats.kv, 8);
    const std::vector<int32_t> ids = randomIds(random, model.config.vocab, 40);
    const Tensor ours =
        readAll(model.interpreter, model.imported.step(), ids, 8);
    ASSERT_EQ(ours.rows, 40);

    DoubleForward forward(model.config, [&](const std::string &name) {
      return storedWeights(model.weights, name, formats.weights);
    });
    std::vector<double> golden;
    for (int32_t id : ids) {
      const std::vector<double> logits = forward.next(id);
      golden.insert(golden.end(), logits.begin(), logits.end());
    }
    ASSERT_EQ(golden.size(), ours.values.size());
    EXPECT_LT(relativeError(ours, golden), formats.bound);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, AgainstDouble,
    testing::Values(Formats{WeightFormat::F16, KvFormat::F16, 2e-3},
                    Formats{WeightFormat::F16, KvFormat::Q8, 5e-2},
                    Formats{WeightFormat::Q8_0, KvFormat::F16, 5e-2},
                    Formats{WeightFormat::Q8_0, KvFormat::Q8, 5e-2},
                    Formats{WeightFormat::Q4_0, KvFormat::Q8, 5e-2}));

class Chunks : public testing::TestWithParam<Formats> {};

// Any chunking of the prompt gives the same bits, also across blocks of 32.
TEST_P(Chunks, SameBits) {
  const Formats formats = GetParam();
  for (uint32_t seed = 100; seed < 106; ++seed) {
    std::mt19937 random(seed);
    RandomModel model(random, formats.weights, formats.kv, 33);
    const std::vector<int32_t> ids = randomIds(random, model.config.vocab, 70);
    const Tensor one =
        readAll(model.interpreter, model.imported.step(), ids, 1);
    for (size_t chunk : {2, 7, 31, 32, 33}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", chunk " +
                   std::to_string(chunk));
      model.interpreter.reset();
      const Tensor cut =
          readAll(model.interpreter, model.imported.step(), ids, chunk);
      EXPECT_EQ(one.values, cut.values);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, Chunks,
    testing::Values(Formats{WeightFormat::Q8_0, KvFormat::Q8, 0},
                    Formats{WeightFormat::Q4_0, KvFormat::F16, 0},
                    Formats{WeightFormat::F16, KvFormat::Q8, 0}));

TEST(Interpreter, GoingBackForgetsWhatCameAfter) {
  std::mt19937 random(7);
  RandomModel model(random, WeightFormat::Q8_0, KvFormat::Q8, 8);
  const std::vector<int32_t> ids = {1, 2, 3, 4, 5, 6};
  const Tensor first =
      readAll(model.interpreter, model.imported.step(), ids, 6);
  const std::vector<int32_t> other = {9, 8};
  ASSERT_TRUE(model.interpreter.run(model.imported.step(), other, 2));
  auto again = model.interpreter.run(model.imported.step(),
                                     std::span(ids).subspan(2), 2);
  ASSERT_TRUE(again);
  EXPECT_TRUE(std::equal(again->logits.values.begin(),
                         again->logits.values.end(),
                         first.values.begin() + 2 * first.width));
}

TEST(Interpreter, ObserverSeesEveryOpByName) {
  std::mt19937 random(8);
  RandomModel model(random, WeightFormat::Q8_0, KvFormat::Q8, 4);
  std::vector<std::string> names;
  Tensor last;
  model.interpreter.setObserver([&](mlir::Operation *op, const Tensor &value) {
    names.push_back(
        mlir::cast<mlir::NameLoc>(op->getLoc()).getName().getValue().str());
    EXPECT_EQ(value.rows, 3);
    last = value;
  });
  const std::vector<int32_t> ids = {1, 2, 3};
  auto output = model.interpreter.run(model.imported.step(), ids, 0);
  ASSERT_TRUE(output);
  EXPECT_EQ(names.size(), size_t(4 + 15 * model.config.layers));
  EXPECT_EQ(names.front(), "token_embd");
  EXPECT_EQ(names[2], "layer 0 attn_q");
  EXPECT_EQ(names.back(), "argmax");
  EXPECT_EQ(std::vector<int32_t>(last.values.begin(), last.values.end()),
            output->next);
}

/// The error of running `ids` at `position` in a fresh cache.
std::string errorOf(RandomModel &model, std::vector<int32_t> ids,
                    uint32_t position) {
  auto output = model.interpreter.run(model.imported.step(), ids, position);
  return output ? "" : output.error().message;
}

TEST(Interpreter, RefusesWhatTheStepDoesNotTake) {
  std::mt19937 random(9);
  RandomModel model(random, WeightFormat::Q8_0, KvFormat::Q8, 2);
  EXPECT_EQ(errorOf(model, {}, 0), "step: expected 1 to 2 tokens, found 0");
  EXPECT_EQ(errorOf(model, {1, 1, 1}, 0),
            "step: expected 1 to 2 tokens, found 3");
  EXPECT_EQ(errorOf(model, {1, 1}, 127),
            "step: expected positions below 128, found 128");
  EXPECT_EQ(errorOf(model, {1}, 3),
            "layer 0 attention (llm.attention): expected position 0 or one "
            "before it, found 3");
  const std::string vocab = std::to_string(model.config.vocab);
  EXPECT_EQ(errorOf(model, {1, int32_t(model.config.vocab)}, 0),
            "token_embd (llm.embed): position 1: expected an id below " +
                vocab + ", found " + vocab);
}

/// Weights with one tensor changed.
class Changed : public models::WeightSource {
public:
  Changed(const models::WeightSource &base, std::string name, float factor)
      : base(base), name(std::move(name)), factor(factor) {}

  const models::ModelConfig &config() const override { return base.config(); }
  Expected<models::QuantizedMatrix>
  matrix(std::string_view tensor, models::WeightFormat format) const override {
    return base.matrix(tensor, format);
  }
  Expected<std::vector<float>> vector(std::string_view tensor) const override {
    auto values = base.vector(tensor);
    if (values && tensor == name) {
      for (float &value : *values) {
        value *= factor;
      }
    }
    return values;
  }

private:
  const models::WeightSource &base;
  std::string name;
  float factor;
};

/// The error of reading two tokens with `weights`.
std::string errorWith(RandomModel &model, const models::WeightSource &weights) {
  Interpreter interpreter(weights);
  const std::vector<int32_t> ids = {1, 2};
  auto output = interpreter.run(model.imported.step(), ids, 0);
  return output ? "" : output.error().message;
}

TEST(Interpreter, NamesOpAndPositionOfInfinity) {
  std::mt19937 random(10);
  RandomModel model(random, WeightFormat::Q8_0, KvFormat::Q8, 2);
  Changed weights(model.weights, "blk.0.ffn_norm.weight", INFINITY);
  EXPECT_EQ(errorWith(model, weights),
            "layer 0 ffn_norm (llm.rms_norm): position 0, element 0: NaN, "
            "infinity or an accumulator outside +-2^27");
}

constexpr const char *kGateOverflow =
    "layer 0 ffn_gate (llm.linear): position 0, element ";

TEST(Interpreter, NamesOpOfIntegerOverflow) {
  std::mt19937 random(11);
  RandomModel model(random, WeightFormat::Q8_0, KvFormat::Q8, 2);
  Changed weights(model.weights, "blk.0.ffn_norm.weight", 1e20f);
  const std::string error = errorWith(model, weights);
  EXPECT_TRUE(error.starts_with(kGateOverflow)) << error;
}

// Both factors are finite in f16, their products are beyond 2^27.
TEST(Interpreter, NamesOpOfHalfOverflow) {
  std::mt19937 random(11);
  RandomModel model(random, WeightFormat::F16, KvFormat::Q8, 2);
  Changed norm(model.weights, "blk.0.ffn_norm.weight", 1e4f);
  Changed weights(norm, "blk.0.ffn_gate.weight", 1e5f);
  const std::string error = errorWith(model, weights);
  EXPECT_TRUE(error.starts_with(kGateOverflow)) << error;
}

// k beyond f16: infinite in an f16 cache, an overflowing scale in a q8 one.
TEST(Interpreter, NamesAttentionForRowsThatNoCacheHolds) {
  for (KvFormat kv : {KvFormat::F16, KvFormat::Q8}) {
    std::mt19937 random(12);
    RandomModel model(random, WeightFormat::F16, kv, 2);
    Changed norm(model.weights, "blk.0.attn_norm.weight", 1e4f);
    Changed weights(norm, "blk.0.attn_k.weight", 3e3f);
    const std::string error = errorWith(model, weights);
    EXPECT_TRUE(error.starts_with("layer 0 attention (llm.attention): position "
                                  "0, element 0: "))
        << error;
  }
}

TEST(Interpreter, RefusesWeightsOfAnotherShape) {
  std::mt19937 random(12);
  RandomModel model(random, WeightFormat::Q8_0, KvFormat::Q8, 2);
  models::ModelConfig wider = model.config;
  wider.intermediate += 1;
  ImportedStep step(wider, optionsOf(WeightFormat::Q8_0, KvFormat::Q8, 2));
  const std::vector<int32_t> ids = {1};
  auto output = model.interpreter.run(step.step(), ids, 0);
  ASSERT_FALSE(output);
  EXPECT_TRUE(output.error().message.starts_with(
      "layer 0 ffn_gate (llm.linear): blk.0.ffn_gate.weight: expected shape ["))
      << output.error().message;
}

TEST(Interpreter, RefusesACacheOfAnotherFormat) {
  std::mt19937 random(13);
  RandomModel model(random, WeightFormat::Q8_0, KvFormat::Q8, 2);
  ImportedStep f16(model.config,
                   optionsOf(WeightFormat::Q8_0, KvFormat::F16, 2));
  EXPECT_EQ(errorOf(model, {1}, 0), "");
  const std::vector<int32_t> ids = {1};
  EXPECT_FALSE(model.interpreter.run(f16.step(), ids, 1));
  model.interpreter.reset();
  EXPECT_TRUE(model.interpreter.run(f16.step(), ids, 0));
}

} // namespace
} // namespace orrery::llm
