// The model in models/tiny against its float64 reference.
#include "compiler/import/ImportModel.h"
#include "tests/e2e/Golden.h"

#include <cmath>
#include <cstdio>

namespace orrery::test {
namespace {

/// Where our greedy text parts from the reference's, two logits are as near to
/// each other as q8 activations shift them; and not before so many tokens.
constexpr float kNear = 0.1f;
constexpr size_t kLeastAlong = 16;

/// By how much the logit of ours[at] is above that of golden[at].
float gapAt(runtime::Session &session, std::vector<int32_t> ids,
            const std::vector<int32_t> &ours,
            const std::vector<int32_t> &golden, size_t at) {
  session.reset();
  ids.insert(ids.end(), ours.begin(), ours.begin() + std::ptrdiff_t(at));
  auto records = session.read(ids);
  if (!records) {
    ADD_FAILURE() << records.error().message;
    return INFINITY;
  }
  const std::vector<float> &logits = records->back().logits.back();
  return logits[size_t(ours[at])] - logits[size_t(golden[at])];
}

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
    if (along < std::min(ours.size(), golden.size())) {
      float gap = gapAt(**session, prompt, ours, golden, along);
      std::printf("  there ours is %.4f above the reference's\n", double(gap));
      EXPECT_LT(gap, kNear);
    }
  }
}

} // namespace
} // namespace orrery::test
