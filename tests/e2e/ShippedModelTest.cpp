// The model in models/tiny against its float64 reference.
#include "compiler/import/ImportModel.h"
#include "tests/e2e/Golden.h"

#include <cstdio>

namespace orrery::test {
namespace {

/// Tokens after which our greedy text may part from the reference's: its
/// smallest gap of two logits is about what q8 activations add.
constexpr size_t kLeastAlong = 32;

TEST(ShippedModel, GreedyIds) {
  std::string folder = std::string(ORRERY_SOURCE_DIR) + "/models/tiny/";
  auto weights = models::WeightFile::open(folder + "orrery-tiny-Q8_0.gguf");
  ASSERT_TRUE(weights) << weights.error().message;
  auto about = nlohmann::json::parse(models::readText(folder + "golden.json"));
  auto golden = about["greedy_ids"].get<std::vector<int32_t>>();
  auto prompt =
      weights->tokenizer()->encode(about["prompt"].get<std::string>());
  EXPECT_EQ(prompt, about["prompt_ids"].get<std::vector<int32_t>>());

  for (llm::KvFormat kv : {llm::KvFormat::Q8, llm::KvFormat::F16}) {
    runtime::SessionOptions options;
    options.kv = kv;
    options.context = int64_t(prompt.size() + golden.size());
    options.tensorFormats = compiler::storedFormats(weights->gguf());
    auto session = runtime::Session::open(*weights, options);
    ASSERT_TRUE(session) << session.error().message;
    auto ours =
        greedy(**session, prompt, golden.size(), weights->tokenizer()->eos());
    size_t along = idsAlong(ours, golden);
    std::printf("models/tiny, kv %s: ours leaves the float64 ids at token %zu "
                "after the prompt, of %zu\n",
                llm::stringifyKvFormat(kv).str().c_str(), along, golden.size());
    EXPECT_GE(along, std::min(kLeastAlong, golden.size()));
  }
}

} // namespace
} // namespace orrery::test
