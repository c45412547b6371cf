// What the GPU reference refuses and what goes wrong inside it: the
// interpreter's messages where it has them, the call that failed where CUDA
// did, and the same position can be run again.
#include "gpu-reference/Reference.h"

#include "gpu-reference/emulation/Settings.h"
#include "machine/numerics.h"
#include "tests/gpu-reference/OneModel.h"
#include "tests/gpu-reference/ReferenceModel.h"

#include <cmath>

namespace orrery::gpu {
namespace {

using emulated::Settings;
using emulated::SettingsScope;

TEST_F(OneModel, RefusesWhatTheInterpreterRefuses) {
  expectSameError({}, 0);
  expectSameError({1, 1, 1, 1, 1}, 0);
  expectSameError({1, 1}, 39);
  expectSameError({1, int32_t(config.vocab)}, 0);
  expectSameError({-1}, 0);
  expectSameError({1}, 3);
  EXPECT_EQ(errors({1}, 0), std::pair(std::string(), std::string()));
  expectSameError({1}, 2);
}

/// Random weights with one tensor's values replaced.
class Spoilt : public models::WeightSource {
public:
  Spoilt(const models::WeightSource &source, std::string tensor, float value,
         size_t element = 1)
      : source(source), tensor(std::move(tensor)), value(value),
        element(element) {}

  const models::ModelConfig &config() const override { return source.config(); }
  Expected<models::QuantizedMatrix>
  matrix(std::string_view name, models::WeightFormat format) const override {
    auto matrix = source.matrix(name, format);
    if (matrix && name == tensor) {
      matrix->scales[element] = numerics::floatToHalf(value);
    }
    return matrix;
  }
  Expected<std::vector<float>> vector(std::string_view name) const override {
    auto values = source.vector(name);
    if (values && name == tensor) {
      (*values)[element] = value;
    }
    return values;
  }

private:
  const models::WeightSource &source;
  std::string tensor;
  float value;
  size_t element;
};

struct Spoil {
  const char *tensor;
  float value;
  StoredFormat weights;
  models::KvFormat kv;
  const char *op; ///< that both must name
};

void PrintTo(const Spoil &s, std::ostream *out) {
  *out << s.tensor << " " << s.value << " kv " << int(s.kv);
}

/// The interpreter gives a whole row of a product up when one element of it
/// does not exist; the kernels know which it is.
std::string withoutElement(std::string message) {
  const size_t at = message.find(", element ");
  return at == std::string::npos
             ? message
             : message.erase(at, message.find(':', at) - at);
}

class NotFinite : public testing::TestWithParam<Spoil> {};

TEST_P(NotFinite, SameOpAndPositionAsTheInterpreters) {
  const Spoil &c = GetParam();
  std::mt19937 random(3);
  models::ModelConfig config = oddConfig(random);
  config.layers = 2;
  config.tiedEmbeddings = false;
  const models::RandomWeights source(config, 5);
  const Spoilt weights(source, c.tensor, c.value);
  ReferenceOptions options;
  options.weights = c.weights;
  options.kv = c.kv;
  options.chunk = 12;
  Golden golden(weights, options);
  auto reference = openReference(weights, options);
  ASSERT_TRUE(reference);
  const auto ids = randomIds(random, config.vocab, 12);
  for (size_t count : {1, 12}) {
    SCOPED_TRACE(std::to_string(count) + " tokens");
    auto theirs = golden.run(std::span(ids).first(count), 0);
    auto ours = reference->run(std::span(ids).first(count), 0);
    ASSERT_FALSE(theirs);
    ASSERT_FALSE(ours);
    EXPECT_EQ(withoutElement(theirs.error().message),
              withoutElement(ours.error().message));
    EXPECT_TRUE(ours.error().message.starts_with(c.op)) << ours.error().message;
    // The failed step left nothing behind that counts as read.
    EXPECT_FALSE(reference->run(std::span(ids).first(1), 1));
  }
}

// Figures of steps that compute nothing are none.
TEST(NotFiniteTimed, IsRefused) {
  std::mt19937 random(3);
  const models::RandomWeights source(oddConfig(random), 5);
  const Spoilt weights(source, "blk.0.ffn_norm.weight", INFINITY);
  for (bool graph : {false, true}) {
    ReferenceOptions options;
    options.graph = graph;
    auto good = openReference(source, options);
    auto bad = openReference(weights, options);
    ASSERT_TRUE(good && bad);
    EXPECT_TRUE(good->time(1, 0, 1));
    auto times = bad->time(1, 0, 1);
    ASSERT_FALSE(times);
    EXPECT_TRUE(times.error().message.starts_with("layer 0 ffn_norm"))
        << times.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Spoilt, NotFinite,
    testing::Values(
        Spoil{"blk.0.attn_norm.weight", 1e38f, StoredFormat::Q8_0,
              models::KvFormat::Q8, "layer 0 attn_"},
        Spoil{"blk.1.ffn_norm.weight", INFINITY, StoredFormat::Q8_0,
              models::KvFormat::F16, "layer 1 ffn_norm (llm.rms_norm)"},
        Spoil{"blk.1.attn_q.weight", NAN, StoredFormat::Q8_0,
              models::KvFormat::Q8, "layer 1 attn_q (llm.linear)"},
        Spoil{"blk.0.attn_v.weight", INFINITY, StoredFormat::Q4_0,
              models::KvFormat::Q8, "layer 0 attn_v (llm.linear)"},
        Spoil{"blk.0.attn_k.weight", 60000.0f, StoredFormat::Q8_0,
              models::KvFormat::F16, "layer 0 attention (llm.attention)"},
        Spoil{"blk.0.attn_v.weight", 60000.0f, StoredFormat::Q8_0,
              models::KvFormat::Q8, "layer 0 attention (llm.attention)"},
        Spoil{"blk.1.ffn_down.weight", INFINITY, StoredFormat::F16,
              models::KvFormat::F16, "layer 1 ffn_down (llm.linear)"},
        Spoil{"output_norm.weight", NAN, StoredFormat::Q8_0,
              models::KvFormat::Q8, "output_norm (llm.rms_norm)"},
        Spoil{"output.weight", NAN, StoredFormat::Q4_0, models::KvFormat::Q8,
              "output (llm.linear)"}));

TEST_F(OneModel, ASpoiltStepCanBeRunAgain) {
  // One id's embedding is infinite; all others are sound.
  config.tiedEmbeddings = false;
  const models::RandomWeights untied(config, 6);
  const Spoilt spoilt(untied, "token_embd.weight", INFINITY, 0);
  auto other = openReference(spoilt, options);
  ASSERT_TRUE(other);
  const std::vector<int32_t> ids = {3, 4, 5};
  const ReadOut expected = Golden(untied, options).read(ids, {2, 1});
  ReadOut found;
  auto begin = other->run(std::span(ids).first(2), 0);
  ASSERT_TRUE(begin) << begin.error().message;
  append(found, begin->logits, begin->greedy);
  auto failed = other->run(std::vector<int32_t>{0}, 2);
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().message.starts_with(
      "token_embd (llm.embed): position 2, element 0: NaN"))
      << failed.error().message;
  auto step = other->run(std::span(ids).subspan(2), 2);
  ASSERT_TRUE(step) << step.error().message;
  append(found, step->logits, step->greedy);
  EXPECT_TRUE(found == expected);
}

// Kernels are refused for their shared memory: while a step is recorded, when
// it is replayed, or launched op by op. The step fails with the launch that
// did, and can be run again.
TEST_F(OneModel, ACudaErrorInTheMiddleOfAStep) {
  const std::vector<int32_t> ids = {1, 2, 3, 4, 5};
  const ReadOut expected = golden().read(ids, {2, 1, 1, 1});
  for (bool graph : {true, false}) {
    for (size_t before : {0, 2, 3}) { // steps that run; each kind comes next
      SCOPED_TRACE(std::to_string(before) + " steps before, graph " +
                   std::to_string(graph));
      options.graph = graph;
      auto fresh = openReference(weights, options);
      ASSERT_TRUE(fresh);
      ReadOut found;
      size_t at = 0;
      for (size_t step = 0; at < ids.size(); ++step) {
        const auto part = std::span(ids).subspan(at, step == 0 ? 2 : 1);
        if (step == before) {
          Settings settings;
          settings.sharedBytes = 16;
          SettingsScope scope(settings);
          auto failed = fresh->run(part, uint32_t(at));
          ASSERT_FALSE(failed);
          const std::string &message = failed.error().message;
          EXPECT_TRUE(message.starts_with("launch of ") ||
                      message.starts_with("cudaGraphLaunch of a step: "))
              << message;
          EXPECT_NE(message.find("shared"), std::string::npos) << message;
        }
        auto run = fresh->run(part, uint32_t(at));
        ASSERT_TRUE(run) << run.error().message;
        append(found, run->logits, run->greedy);
        at += part.size();
      }
      EXPECT_TRUE(found == expected);
    }
  }
}

std::string openError(const models::WeightSource &weights,
                      const ReferenceOptions &options) {
  auto reference = Reference::open(weights, options, Backend::Emulated);
  return reference ? "" : reference.error().message;
}

TEST_F(OneModel, RefusesOptions) {
  options.tensorFormats["blk.9.attn_q.weight"] = StoredFormat::Q4_0;
  EXPECT_EQ(openError(weights, options),
            "random: no tensor is called blk.9.attn_q.weight");
  options = {};
  options.layers = 3;
  EXPECT_EQ(openError(weights, options),
            "random: expected 1 to 2 layers, found 3");
  options = {};
  options.chunk = 0;
  EXPECT_EQ(openError(weights, options),
            "random: expected 1 to 65536 tokens a step, found 0");
  options = {};
  options.pagePositions = 40;
  EXPECT_NE(openError(weights, options), "");
}

TEST_F(OneModel, SaysWhatDoesNotFitTheDevice) {
  auto reference = openReference(weights, options);
  ASSERT_TRUE(reference);
  const auto held = size_t(reference->bytesHeld());
  reference.reset();
  // From far too little to a byte too little: an error each time, which names
  // bytes and what they were for.
  for (size_t room : {size_t(0), held / 4, held / 2, held - 1}) {
    Settings settings;
    settings.memoryBytes = room;
    SettingsScope scope(settings);
    const std::string message = openError(weights, options);
    EXPECT_TRUE(message.find("out of device memory: ") != std::string::npos &&
                message.find(" bytes for ") != std::string::npos)
        << room << ": " << message;
  }
  Settings settings;
  settings.memoryBytes = held + (size_t(1) << 16); // alignment of the parts
  SettingsScope scope(settings);
  EXPECT_EQ(openError(weights, options), "");
}

} // namespace
} // namespace orrery::gpu
