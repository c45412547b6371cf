#include "runtime/command/ValidateBatch.h"

#include <gtest/gtest.h>

namespace orrery::command {
namespace {

using Ids = std::vector<int32_t>;

TEST(ValidateBatch, TextsOfOneText) {
  const Ids ids = {1, 10, 11, 12};
  const auto texts = textsOf(ids, 3, 5, 100);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].prompt, ids);
  EXPECT_EQ(texts[1].prompt, (Ids{1, 11, 12, 10, 11}));
  EXPECT_EQ(texts[2].prompt, (Ids{1, 12, 10, 11, 12, 10}));
  for (const auto &text : texts) {
    EXPECT_EQ(text.more, 5);
  }
  EXPECT_EQ(positionsOf(texts), 4 + 5 + 6 + 15);
  EXPECT_EQ(textsOf(Ids{7}, 2, 1, 100)[1].prompt, (Ids{7, 7}));
}

// In every context each text fits, and decodes at least a token if two
// positions do.
TEST(ValidateBatch, TextsFitTheContext) {
  for (int64_t context : {1, 2, 3, 5, 9}) {
    for (size_t length = 1; length <= size_t(context); ++length) {
      for (int64_t more : {0, 1, 16}) {
        for (const auto &text : textsOf(Ids(length, 4), 6, more, context)) {
          EXPECT_GE(text.prompt.size(), 1u);
          EXPECT_LE(text.positions(), context);
          EXPECT_EQ(text.more > 0, context > 1);
        }
      }
    }
  }
}

TEST(ValidateBatch, SaysWhereTheFirstDifferenceIs) {
  runtime::BatchOutcome outcome;
  outcome.sequences = 2;
  outcome.steps = 3;
  outcome.greatestStep = 2;
  outcome.pages = 4;
  outcome.pagesUsed = 1;
  EXPECT_EQ(batchText(outcome),
            "batched decode: 2 sequences, 3 decode steps of up to 2, 1 of 4 KV "
            "pages: 0 logits, 0 differ\n");
  EXPECT_FALSE(batchJson(outcome).contains("first_difference"));
  outcome.first = {1, {"layer 0 attention", "llm.attention", {5, 2, 1, 3}, ""}};
  EXPECT_NE(batchText(outcome).find(
                "first difference: layer 0 attention (llm.attention), position "
                "5, element 2: interpreter 0x00000001"),
            std::string::npos)
      << batchText(outcome);
  EXPECT_NE(batchText(outcome).find("GPU reference's sequence 1 0x00000003"),
            std::string::npos)
      << batchText(outcome);
  const Json json = batchJson(outcome)["first_difference"];
  EXPECT_EQ(json["sequence"], 1);
  EXPECT_EQ(json["position"], 5);
}

} // namespace
} // namespace orrery::command
