// The interpreter on trained models, held against float64 logits of the
// unquantized weights. The expected figures were set with the numerics, not
// read off this code; they hold to about 20 %.
#include "models/Quality.h"

#include "models/Weights.h"
#include "tests/dialects/llm/Step.h"
#include "tests/models/SharedData.h"

#include <nlohmann/json.hpp>

namespace orrery::llm {
namespace {

struct Case {
  const char *name;
  const char *file; ///< a float file, quantized on reading
  WeightFormat weights;
  KvFormat kv;
  double meanKl;
  double top1;
};

void PrintTo(const Case &c, std::ostream *os) {
  *os << c.name << " " << stringifyWeightFormat(c.weights).str() << " kv "
      << stringifyKvFormat(c.kv).str();
}

constexpr const char *kStories = "stories260K/stories260K-F32.gguf";
constexpr const char *kTiny = "tinystories-656K/tinystories-656K-F32.gguf";

class GoldenLogits : public testing::TestWithParam<Case> {};

std::vector<double> readDoubles(const std::string &path) {
  const std::vector<std::byte> bytes = models::readBytes(path);
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
  return values;
}

TEST_P(GoldenLogits, KlAndTop1) {
  const Case &c = GetParam();
  SKIP_WITHOUT_SHARED(c.file);
  const std::string golden = models::sharedFile("golden/") + c.name;
  const std::vector<double> logits = readDoubles(golden + ".logits.f64");
  const auto about = nlohmann::json::parse(models::readText(golden + ".json"));
  const auto ids = about["ids"].get<std::vector<int32_t>>();
  auto weights = models::WeightFile::open(models::sharedFile(c.file));
  ASSERT_TRUE(weights) << weights.error().message;

  compiler::ImportOptions options;
  options.tokens = 32;
  options.weightFormat = c.weights;
  options.kvFormat = c.kv;
  ImportedStep imported(weights->config(), options);
  Interpreter interpreter(*weights);
  const Tensor ours = readAll(interpreter, imported.step(), ids, 32);
  ASSERT_EQ(size_t(ours.rows), ids.size());

  models::QualityMeter meter;
  const size_t vocab = size_t(ours.width);
  const size_t positions = logits.size() / vocab;
  ASSERT_GT(positions, 100u);
  ASSERT_LE(positions, ids.size());
  for (size_t t = 0; t < positions; ++t) {
    meter.add(std::span(logits).subspan(t * vocab, vocab), ours.row(t));
  }
  const models::Quality quality = meter.quality();
  RecordProperty("mean_kl", std::to_string(quality.meanKl));
  RecordProperty("top1", std::to_string(quality.top1));
  std::cout << "mean KL " << quality.meanKl << ", top-1 " << quality.top1
            << ", greatest KL " << quality.maxKl << "\n";
  EXPECT_NEAR(quality.meanKl, c.meanKl, 0.2 * c.meanKl);
  EXPECT_NEAR(quality.top1, c.top1, 0.04);
}

constexpr auto q8_0 = WeightFormat::Q8_0;
constexpr auto q4_0 = WeightFormat::Q4_0;

INSTANTIATE_TEST_SUITE_P(
    Trained, GoldenLogits,
    testing::Values(
        Case{"tinystories-656K", kTiny, q8_0, KvFormat::Q8, 8.9e-4, 0.969},
        Case{"tinystories-656K", kTiny, q8_0, KvFormat::F16, 6.7e-4, 0.956},
        Case{"stories260K", kStories, q8_0, KvFormat::Q8, 1.6e-3, 0.984},
        Case{"stories260K", kStories, q8_0, KvFormat::F16, 6.4e-4, 0.984},
        Case{"tinystories-656K", kTiny, q4_0, KvFormat::Q8, 7.7e-2, 0.77},
        Case{"stories260K", kStories, q4_0, KvFormat::Q8, 7.7e-2, 0.87}));

/// Greedy ids after `ids` until there are `total`.
std::vector<int32_t> generate(Interpreter &interpreter, mlir::func::FuncOp step,
                              std::vector<int32_t> ids, size_t total) {
  size_t read = 0;
  while (ids.size() < total) {
    auto output =
        interpreter.run(step, std::span(ids).subspan(read), uint32_t(read));
    if (!output) {
      ADD_FAILURE() << output.error().message;
      break;
    }
    read = ids.size();
    ids.push_back(output->next.back());
  }
  return ids;
}

class GoldenIds : public testing::TestWithParam<Case> {};

// f16 is close enough to float64 that no step of these texts is a near-tie.
TEST_P(GoldenIds, GreedyWithHalves) {
  const Case &c = GetParam();
  SKIP_WITHOUT_SHARED(c.file);
  const auto about = nlohmann::json::parse(
      models::readText(models::sharedFile("golden/") + c.name + ".json"));
  const auto ids = about["ids"].get<std::vector<int32_t>>();
  auto weights = models::WeightFile::open(models::sharedFile(c.file));
  ASSERT_TRUE(weights) << weights.error().message;
  ASSERT_NE(weights->tokenizer(), nullptr);
  const std::vector<int32_t> prompt =
      weights->tokenizer()->encode(about["prompt"].get<std::string>());
  ASSERT_TRUE(std::equal(prompt.begin(), prompt.end(), ids.begin()));

  compiler::ImportOptions options;
  options.tokens = 32;
  options.weightFormat = c.weights;
  options.kvFormat = c.kv;
  ImportedStep imported(weights->config(), options);
  Interpreter interpreter(*weights);
  EXPECT_EQ(generate(interpreter, imported.step(), prompt, ids.size()), ids);
}

INSTANTIATE_TEST_SUITE_P(
    Trained, GoldenIds,
    testing::Values(
        Case{"tinystories-656K", kTiny, WeightFormat::F16, KvFormat::F16, 0, 1},
        Case{"stories260K", kStories, WeightFormat::F16, KvFormat::F16, 0, 1}));

} // namespace
} // namespace orrery::llm
