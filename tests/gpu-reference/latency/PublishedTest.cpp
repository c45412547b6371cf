// Published figures: what is built in, how a figure becomes a step, what a bad
// file is refused with.
#include "gpu-reference/latency/Published.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace orrery::gpu::latency {
namespace {

std::string fileOf(const std::string &row, const std::string &extra = "") {
  return R"({"sources": [{"engine": "e", "source": "s", "date": "d",
    "conditions": "c", )" +
         extra + R"("rows": [{"id": "r", "system": "a100", "chips": 1, "model":
    "llama-2-7b", "weights": "f16", "kv": "f16", "batch": 4, "context": 9, )" +
         row + "}]}]}";
}

PublishedRow rowOf(const std::string &row, const std::string &extra = "") {
  auto rows = parsePublished(fileOf(row, extra), "file");
  EXPECT_TRUE(rows) << rows.error().message;
  return rows ? rows->front() : PublishedRow{};
}

TEST(Published, FiguresBecomeStepTimes) {
  EXPECT_DOUBLE_EQ(rowOf(R"("ms_per_token": 12.5)").usPerStep, 12500);
  EXPECT_DOUBLE_EQ(rowOf(R"("tokens_per_second_per_user": 100)").usPerStep,
                   10000);
  EXPECT_DOUBLE_EQ(rowOf(R"("tokens_per_second": 100)").usPerStep, 40000);
  // 11 tokens at 40 ms each are 440 ms, of which 140 are the first token's.
  EXPECT_DOUBLE_EQ(rowOf(R"("tokens_per_second": 100, "first_token_ms": 140,
                            "new_tokens": 11)")
                       .usPerStep,
                   30000);
  PublishedRow row =
      rowOf(R"("ms_per_token": 1, "apart": "why")",
            R"("structure": {"head": "whole", "all_reduce": "nccl",
         "head_weights": "bf16", "from": "f"},)");
  EXPECT_EQ(row.apart, "why");
  EXPECT_TRUE(row.structure.wholeHead && row.structure.nccl);
  EXPECT_FALSE(row.structure.gateUpApart);
  EXPECT_EQ(row.structure.headWeights, WeightKind::Bf16);
}

TEST(Published, BadFilesAreOneLine) {
  auto message = [](const std::string &text) {
    auto rows = parsePublished(text, "file");
    EXPECT_FALSE(rows) << text;
    std::string line = rows ? "" : rows.error().message;
    EXPECT_TRUE(line.starts_with("file: ")) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    return line;
  };
  auto expectPart = [&](const std::string &text, const char *part) {
    std::string line = message(text);
    EXPECT_NE(line.find(part), std::string::npos) << line;
  };
  message("");
  message("[1]");
  expectPart(fileOf(R"("apart": "x")"), "expected one figure, found 0");
  expectPart(fileOf(R"("ms_per_token": 1, "tokens_per_second": 2)"),
             "expected one figure, found 2");
  expectPart(fileOf(R"("ms_per_token": 0)"),
             "sources[0].rows[0].ms_per_token: expected a number from");
  expectPart(fileOf(R"("ms_per_token": 1, "first_token_ms": 1)"),
             "new_tokens: expected a value, found nothing");
  expectPart(fileOf(R"("ms_per_token": 1, "first_token_ms": 99,
                       "new_tokens": 3)"),
             "first_token_ms: expected less than the whole run");
  expectPart(fileOf(R"("ms_per_token": 1, "gpu": 2)"), "found \"gpu\"");
  expectPart(fileOf(R"("ms_per_token": 1)",
                    R"("structure": {"head": "half", "from": "f"},)"),
             "found half, fused, own");
  std::string other = fileOf(R"("ms_per_token": 1)");
  other.replace(other.find("llama-2-7b"), 10, "llama-9-7b");
  expectPart(other, "model: expected a name of the zoo, found llama-9-7b");
}

TEST(Published, RowsThatAreBuiltIn) {
  auto rows = publishedRows();
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_GE(rows->size(), 60u);
  auto find = [&](const std::string &id) {
    auto row = std::ranges::find(*rows, id, &PublishedRow::id);
    EXPECT_NE(row, rows->end()) << id;
    return row == rows->end() ? PublishedRow{} : *row;
  };
  EXPECT_NEAR(find("gptfast-llama-2-7b-bf16-tp1").tokensPerSecondPerUser(),
              104.9, 1e-9);
  EXPECT_NEAR(find("sglang-llama-3-8b-tp8").tokensPerSecondPerUser(), 260.4,
              1e-9);
  EXPECT_NEAR(find("groq-llama-2-7b").tokensPerSecondPerUser(), 750, 1e-9);
  for (const PublishedRow &row : *rows) {
    EXPECT_FALSE(row.source.empty() || row.date.empty()) << row.id;
  }
}

} // namespace
} // namespace orrery::gpu::latency
