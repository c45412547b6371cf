// Batched steps against steps of each sequence alone, both by the reference: no
// interpreter, so that it also runs under sanitizers.
#include "gpu-reference/MadeUpWeights.h"
#include "gpu-reference/Reference.h"
#include "models/Zoo.h"

#include <gtest/gtest.h>

#include <random>

namespace orrery::gpu {
namespace {

class BatchedSteps : public testing::TestWithParam<models::KvFormat> {};

// More than GEMV takes; sequences end, and others take their numbers and pages.
TEST_P(BatchedSteps, AsEachAlone) {
  auto config = models::loadShape("stories260k");
  ASSERT_TRUE(config) << config.error().message;
  const MadeUpWeights weights(*config);
  ReferenceOptions options;
  options.kv = GetParam();
  options.context = 70;
  options.chunk = 40;
  options.batch = 9;
  options.pagePositions = 32;
  options.layers = 2;
  auto opened = Reference::open(weights, options, Backend::Emulated);
  ASSERT_TRUE(opened) << opened.error().message;
  Reference &reference = **opened;
  models::KvPages &pages = reference.pages();
  std::mt19937 random(uint32_t(GetParam()) + 5);
  const auto id = [&] { return int32_t(random() % uint32_t(config->vocab)); };

  struct Text {
    Sequence sequence;
    std::vector<int32_t> ids;
  };
  std::vector<Text> texts;
  const auto begin = [&](size_t length) {
    Text text{pages.open(), {}};
    for (size_t i = 0; i < length; ++i) {
      text.ids.push_back(id());
    }
    auto prompt = reference.run(text.sequence, text.ids, 0);
    ASSERT_TRUE(prompt) << prompt.error().message;
    texts.push_back(std::move(text));
  };
  for (size_t i = 0; i < 9; ++i) {
    ASSERT_NO_FATAL_FAILURE(begin(1 + random() % 40));
  }
  for (int step = 0; step < 3; ++step) {
    if (step == 2) {
      pages.close(texts.front().sequence);
      texts.erase(texts.begin());
      ASSERT_NO_FATAL_FAILURE(begin(20));
    }
    std::vector<SequenceToken> tokens;
    for (Text &text : texts) {
      text.ids.push_back(id());
      tokens.push_back(
          {text.sequence, text.ids.back(), uint32_t(text.ids.size() - 1)});
    }
    auto together = reference.decode(tokens);
    ASSERT_TRUE(together) << together.error().message;
    for (size_t i = 0; i < texts.size(); ++i) {
      // The same token once more, alone: it takes the place of itself.
      const std::span<const int32_t> last(&texts[i].ids.back(), 1);
      auto alone = reference.run(texts[i].sequence, last, tokens[i].position);
      ASSERT_TRUE(alone) << alone.error().message;
      EXPECT_TRUE(std::ranges::equal(together->row(int64_t(i)), alone->row(0)))
          << "step " << step << ", sequence " << texts[i].sequence;
      EXPECT_EQ(together->greedy[i], alone->greedy[0]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kv, BatchedSteps,
                         testing::Values(models::KvFormat::F16,
                                         models::KvFormat::Q8,
                                         models::KvFormat::Q4));

} // namespace
} // namespace orrery::gpu
