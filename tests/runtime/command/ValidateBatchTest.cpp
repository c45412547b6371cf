#include "runtime/command/ValidateBatch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace orrery::command {
namespace {

using Ids = std::vector<int32_t>;

TEST(ValidateBatch, TextsOfOneText) {
  const Ids ids = {1, 10, 11, 12};
  const auto texts = textsOf(ids, 100, 3, 5, 100);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].prompt, ids);
  EXPECT_EQ(texts[1].prompt, (Ids{1, 11, 12, 10, 11}));
  EXPECT_EQ(texts[2].prompt, (Ids{1, 12, 10, 11, 12, 10}));
  for (const auto &text : texts) {
    EXPECT_EQ(text.more, 5);
  }
  EXPECT_EQ(positionsOfTexts(4, 3, 5, 100),
            (std::vector<int64_t>{4 + 5, 5 + 5, 6 + 5}));
  EXPECT_EQ(textsOf(Ids{7}, 100, 2, 1, 100)[1].prompt, (Ids{7, 7}));
}

// Where the context makes them equally long they are counted up: equal ones
// would not show that their KV pages changed places.
TEST(ValidateBatch, NoTwoTextsAreAlike) {
  const auto short_ = textsOf(Ids{1, 10, 11}, 12, 4, 5, 4);
  EXPECT_EQ(short_[0].prompt, (Ids{1, 10, 11}));
  EXPECT_EQ(short_[1].prompt, (Ids{1, 11, 11}));
  // 10 + 2 and 11 + 1 of a vocabulary of 12 carry.
  EXPECT_EQ(short_[2].prompt, (Ids{2, 0, 0}));
  constexpr int64_t kVocab = 5;
  for (int64_t context : {1, 2, 3, 4, 9}) {
    const int64_t most = std::max<int64_t>(context - 1, 1);
    const auto all = int64_t(std::pow(double(kVocab), double(most)));
    for (size_t length = 1; length <= size_t(context); ++length) {
      const int64_t count = std::min<int64_t>(all, 200);
      std::set<Ids> seen;
      for (const auto &text :
           textsOf(Ids(length, 4), kVocab, count, 2, context)) {
        EXPECT_TRUE(seen.insert(text.prompt).second)
            << "context " << context << ", " << length << " ids";
        for (int32_t id : text.prompt) {
          EXPECT_TRUE(id >= 0 && id < kVocab) << id;
        }
      }
    }
  }
}

// In every context each text fits, and decodes at least a token if two
// positions do.
TEST(ValidateBatch, TextsFitTheContext) {
  for (int64_t context : {1, 2, 3, 5, 9}) {
    for (size_t length = 1; length <= size_t(context); ++length) {
      for (int64_t more : {0, 1, 16}) {
        const auto texts = textsOf(Ids(length, 4), 5, 6, more, context);
        const auto positions =
            positionsOfTexts(int64_t(length), 6, more, context);
        for (size_t i = 0; i < 6; ++i) {
          EXPECT_GE(texts[i].prompt.size(), 1u);
          EXPECT_LE(texts[i].positions(), context);
          EXPECT_EQ(texts[i].positions(), positions[i]);
          EXPECT_EQ(texts[i].more > 0, context > 1);
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
  // Of an op that is not known, the bits of the logits and the reason.
  runtime::BatchOutcome unknown = outcome;
  unknown.first->op = {"", "logits", {5, 2, 1, 3}, "nobody knows"};
  EXPECT_NE(batchText(unknown).find(
                "first difference: the logits, no op is known: nobody knows, "
                "position 5, element 2: interpreter 0x00000001"),
            std::string::npos)
      << batchText(unknown);
  const Json json = batchJson(outcome)["first_difference"];
  EXPECT_EQ(json["sequence"], 1);
  EXPECT_EQ(json["position"], 5);
}

} // namespace
} // namespace orrery::command
