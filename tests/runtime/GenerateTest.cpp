#include "runtime/Generate.h"

#include "tests/runtime/TinySession.h"

namespace orrery::runtime {
namespace {

struct Outcome {
  Generated generated;
  std::vector<uint32_t> validTokens; ///< of each step
};

Outcome run(const SessionOptions &options, const char *prompt,
            GenerateOptions generation) {
  Outcome out;
  auto session = openTiny(options);
  auto ids = tinyModel().tokenizer()->encode(prompt);
  generation.onStep = [&](const StepRecord &record,
                          std::span<const int32_t> read) -> Status {
    EXPECT_EQ(read.size(), record.validTokens);
    EXPECT_EQ(record.result.ticks, record.program->predictedTicks);
    out.validTokens.push_back(record.validTokens);
    return Success{};
  };
  auto generated = generate(*session, ids, generation);
  EXPECT_TRUE(generated) << generated.error().message;
  if (generated) {
    out.generated = *generated;
  }
  return out;
}

TEST(Generate, StopsAtTheCountWithoutReadingTheLastToken) {
  SessionOptions options = tinyOptions();
  options.chunk = 1;
  Outcome five = run(options, "Once upon a time", {.count = 5});
  EXPECT_EQ(five.generated.ids.size(), 5u);
  EXPECT_EQ(five.generated.stop, Stop::Count);
  EXPECT_EQ(five.validTokens.size(), 5u + 4u);
}

TEST(Generate, NoTokensStillReadsThePrompt) {
  Outcome none = run(tinyOptions(), "Once upon a time", {.count = 0});
  EXPECT_TRUE(none.generated.ids.empty());
  EXPECT_FALSE(none.validTokens.empty());
}

TEST(Generate, StopsWhenTheContextIsFull) {
  SessionOptions options = tinyOptions();
  options.context = 8;
  Outcome run8 = run(options, "Once upon a time", {.count = 100});
  EXPECT_EQ(run8.generated.stop, Stop::Context);
  // Five tokens of prompt, three that are read, one that is not.
  EXPECT_EQ(run8.generated.ids.size(), 4u);
}

TEST(Generate, StopsAtTheEndToken) {
  Outcome whole = run(tinyOptions(), "Once upon a time", {.count = 6});
  GenerateOptions until{.count = 6, .endToken = whole.generated.ids[3]};
  Outcome cut = run(tinyOptions(), "Once upon a time", until);
  EXPECT_EQ(cut.generated.stop, Stop::EndToken);
  EXPECT_EQ(cut.generated.ids.size(), 3u);
}

TEST(Generate, ChunksDoNotChangeWhatIsDrawn) {
  GenerateOptions drawn{.count = 8, .sampler = {.temperature = 1, .seed = 3}};
  SessionOptions single = tinyOptions(), chunks = tinyOptions();
  single.chunk = 1;
  chunks.chunk = 5;
  Outcome a = run(single, "One day", drawn), b = run(chunks, "One day", drawn);
  EXPECT_NE(a.validTokens, b.validTokens);
  EXPECT_EQ(a.generated.ids, b.generated.ids);
}

TEST(Generate, APromptThatDoesNotFitRunsNothing) {
  SessionOptions options = tinyOptions();
  options.context = 4;
  auto session = openTiny(options);
  std::vector<int32_t> ids(5, 1);
  int steps = 0;
  GenerateOptions generation{.count = 1};
  generation.onStep = [&](const StepRecord &, std::span<const int32_t>) {
    ++steps;
    return Status(Success{});
  };
  auto generated = generate(*session, ids, generation);
  ASSERT_FALSE(generated);
  EXPECT_EQ(generated.error().message,
            "5 tokens at position 0 do not fit the context of 4");
  EXPECT_EQ(steps, 0);
}

} // namespace
} // namespace orrery::runtime
