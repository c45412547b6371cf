// Logits of the simulated chip, teacher-forced in chunks of 20 tokens, held
// against float64 logits of the unquantized model. The expected figures come
// from an independent prototype of the numerics; they hold to 20 %.
#include "models/Quality.h"
#include "tests/e2e/Golden.h"

#include <cstdio>

namespace orrery::test {
namespace {

struct Case {
  const char *name;
  const char *file; ///< a float file, quantized on reading
  llm::WeightFormat weights;
  llm::KvFormat kv;
  double meanKl, top1;
};

void PrintTo(const Case &c, std::ostream *os) {
  *os << c.name << " " << llm::stringifyWeightFormat(c.weights).str() << " kv "
      << llm::stringifyKvFormat(c.kv).str();
}

class GoldenQuality : public testing::TestWithParam<Case> {};

TEST_P(GoldenQuality, KlAndTop1) {
  const Case &c = GetParam();
  SKIP_WITHOUT_SHARED(c.file);
  auto weights = models::WeightFile::open(models::sharedFile(c.file));
  ASSERT_TRUE(weights) << weights.error().message;
  Golden golden = readGolden(c.name);
  auto vocab = size_t(weights->config().vocab);
  size_t positions = golden.logits.size() / vocab;
  ASSERT_GT(positions, 100u);

  runtime::SessionOptions options;
  options.weights = c.weights;
  options.kv = c.kv;
  options.chunk = 20;
  options.context = int64_t(golden.ids.size());
  auto session = runtime::Session::open(*weights, options);
  ASSERT_TRUE(session) << session.error().message;
  auto records = (*session)->read(std::span(golden.ids).first(positions));
  ASSERT_TRUE(records) << records.error().message;

  models::QualityMeter meter;
  size_t row = 0;
  for (const auto &record : *records) {
    for (const auto &ours : record.logits) {
      meter.add(std::span(golden.logits).subspan(row++ * vocab, vocab), ours);
    }
  }
  ASSERT_EQ(row, positions);
  models::Quality quality = meter.quality();
  std::printf("%s, weights %s, kv %s: mean KL %.3g (prototype %.3g), top-1 "
              "%.1f %% (%.1f %%), greatest KL %.3g, %zu positions in %zu "
              "steps\n",
              c.name, llm::stringifyWeightFormat(c.weights).str().c_str(),
              llm::stringifyKvFormat(c.kv).str().c_str(), quality.meanKl,
              c.meanKl, 100 * quality.top1, 100 * c.top1, quality.maxKl,
              positions, records->size());
  EXPECT_NEAR(quality.meanKl, c.meanKl, 0.2 * c.meanKl);
  EXPECT_NEAR(quality.top1, c.top1, 0.04);
}

constexpr const char *kStories = "stories260K/stories260K-F32.gguf";
constexpr const char *kTiny = "tinystories-656K/tinystories-656K-F32.gguf";
constexpr auto q8_0 = llm::WeightFormat::Q8_0;
constexpr auto q4_0 = llm::WeightFormat::Q4_0;
constexpr auto kvQ8 = llm::KvFormat::Q8;
constexpr auto kvF16 = llm::KvFormat::F16;

INSTANTIATE_TEST_SUITE_P(
    Trained, GoldenQuality,
    testing::Values(Case{"tinystories-656K", kTiny, q8_0, kvQ8, 8.9e-4, 0.969},
                    Case{"tinystories-656K", kTiny, q8_0, kvF16, 6.7e-4, 0.956},
                    Case{"stories260K", kStories, q8_0, kvQ8, 1.6e-3, 0.984},
                    Case{"stories260K", kStories, q8_0, kvF16, 6.4e-4, 0.984},
                    Case{"tinystories-656K", kTiny, q4_0, kvQ8, 7.7e-2, 0.77},
                    Case{"stories260K", kStories, q4_0, kvQ8, 7.7e-2, 0.87}));

} // namespace
} // namespace orrery::test
