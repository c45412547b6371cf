// Sequences that the GPU reference decodes together: each as the interpreter
// alone; a difference in what the reference was given is traced to sequence, op
// and position.
#include "runtime/BatchCheck.h"

#include "gpu-reference/emulation/Settings.h"
#include "runtime/ChunkInterpreter.h"
#include "runtime/ReferenceCheck.h"
#include "tests/runtime/ChangedModel.h"

#include <random>

namespace orrery::runtime {
namespace {

BatchOptions options(int64_t batch, int64_t pages = 0) {
  BatchOptions options;
  options.import.tensorFormats = compiler::storedFormats(tinyModel().gguf());
  options.import.context = 96;
  options.batch = batch;
  options.pages = pages;
  return options;
}

/// Prompts from below a chunk to above it.
std::vector<SequenceText> texts(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<SequenceText> texts;
  for (size_t i = 0; i < count; ++i) {
    SequenceText text;
    text.prompt.resize(1 + random() % 40);
    for (int32_t &id : text.prompt) {
      id = int32_t(random() % 500);
    }
    text.more = int64_t(1 + random() % 4);
    texts.push_back(std::move(text));
  }
  return texts;
}

uint64_t positions(const std::vector<SequenceText> &texts) {
  uint64_t sum = 0;
  for (const SequenceText &text : texts) {
    sum += uint64_t(text.positions());
  }
  return sum;
}

std::vector<int64_t> positionsOf(std::span<const SequenceText> texts) {
  std::vector<int64_t> positions;
  for (const SequenceText &text : texts) {
    positions.push_back(text.positions());
  }
  return positions;
}

Expected<BatchOutcome> checkBatch(const models::WeightSource &weights,
                                  const models::WeightSource &expected,
                                  const BatchOptions &options,
                                  std::span<const SequenceText> texts) {
  auto check = BatchCheck::open(weights, options, positionsOf(texts));
  return check ? check->run(expected, texts) : check.error();
}

TEST(BatchCheck, EachSequenceHasItsOwnBits) {
  const auto all = texts(5, 1);
  auto outcome = checkBatch(tinyModel(), tinyModel(), options(5), all);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->sequences, 5);
  EXPECT_EQ(outcome->greatestStep, 5);
  EXPECT_EQ(outcome->bits.rows(), positions(all));
  EXPECT_EQ(outcome->bits.choices(), positions(all));
  EXPECT_EQ(outcome->bits.values(),
            positions(all) * uint64_t(tinyModel().config().vocab));
  EXPECT_EQ(outcome->bits.different(), 0u);
  EXPECT_EQ(outcome->bits.otherChoices(), 0u);
  EXPECT_FALSE(outcome->first);
  // The pool had room for all, and all were in it.
  EXPECT_EQ(outcome->pagesUsed, outcome->pages);
}

// More sequences than the pool holds at once: some wait, and read their prompt
// over pages of those that have ended.
TEST(BatchCheck, SequencesWaitForPages) {
  const auto all = texts(6, 2);
  auto outcome = checkBatch(tinyModel(), tinyModel(), options(6, 3), all);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->pages, 3);
  EXPECT_LE(outcome->pagesUsed, 3);
  EXPECT_GT(outcome->greatestStep, 1);
  EXPECT_LE(outcome->greatestStep, 3);
  EXPECT_EQ(outcome->bits.rows(), positions(all));
  EXPECT_EQ(outcome->bits.different(), 0u);
  EXPECT_EQ(outcome->text().substr(0, 12), "6 sequences,");
}

TEST(BatchCheck, ATextThatThePoolCannotHold) {
  std::vector<SequenceText> long_ = {{std::vector<int32_t>(60, 7), 10}};
  auto outcome = checkBatch(tinyModel(), tinyModel(), options(1, 2), long_);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message,
            "KV cache full: a sequence of 70 positions needs 3 pages of 32 "
            "positions, 2 of 2 are promised to nobody");
}

TEST(BatchCheck, NamesSequenceOpAndPosition) {
  ChangedModel changed;
  changed.tensor = "blk.2.attn_output.weight";
  const auto all = texts(3, 4);
  auto outcome = checkBatch(changed, tinyModel(), options(3), all);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_GT(outcome->bits.different(), 0u);
  ASSERT_TRUE(outcome->first);
  EXPECT_EQ(outcome->first->sequence, 0u);
  EXPECT_EQ(outcome->first->op.op, "layer 2 attn_output");
  EXPECT_EQ(outcome->first->op.kind, "llm.linear");
  EXPECT_EQ(outcome->first->op.at.position, 0u);
  EXPECT_NE(outcome->first->op.at.expected, outcome->first->op.at.found);
}

// Position 0 is not turned, so a text of one id and the tokens behind it differ
// only where sequences decode together.
TEST(BatchCheck, NamesTheRowOfABatch) {
  ChangedModel changed;
  changed.modelConfig.ropeTheta *= 1.5;
  const std::vector<SequenceText> all = {{{1}, 3}, {{300}, 3}};
  auto outcome = checkBatch(changed, tinyModel(), options(2), all);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->first);
  EXPECT_EQ(outcome->first->sequence, 0u);
  EXPECT_EQ(outcome->first->op.op, "layer 0 rope_q");
  EXPECT_EQ(outcome->first->op.at.position, 1u);
}

// Whether there is room is known before anything runs.
TEST(BatchCheck, SaysWhatDoesNotFitWhenItIsOpened) {
  gpu::emulated::Settings settings;
  settings.memoryBytes = size_t(40) << 20;
  const gpu::emulated::SettingsScope scope(settings);
  const std::vector<int64_t> few(2, 90), many(2000, 90);
  auto fits = BatchCheck::open(tinyModel(), options(2), few);
  EXPECT_TRUE(fits) << fits.error().message;
  auto tooMany = BatchCheck::open(tinyModel(), options(2), many);
  ASSERT_FALSE(tooMany);
  EXPECT_NE(tooMany.error().message.find("bytes for the KV cache"),
            std::string::npos)
      << tooMany.error().message;
}

// A difference is not lost when the second run, for its op, fails.
TEST(BatchCheck, KeepsADifferenceThatCannotBeTraced) {
  ChangedModel changed;
  changed.tensor = "blk.2.attn_output.weight";
  const auto all = texts(3, 4);
  models::KvPages *pages = nullptr;
  BatchOptions taking = options(3);
  taking.progress = [&](const std::string &what) {
    if (what.ends_with("which op differs")) { // all pages are taken away
      const auto other = pages->open();
      EXPECT_TRUE(pages->reserve(other, pages->freePages() * 32));
    }
  };
  auto check = BatchCheck::open(changed, taking, positionsOf(all));
  ASSERT_TRUE(check) << check.error().message;
  pages = &check->reference()->pages();
  auto outcome = check->run(tinyModel(), all);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_GT(outcome->bits.different(), 0u);
  ASSERT_TRUE(outcome->first);
  const OpDifference &op = outcome->first->op;
  EXPECT_EQ(op.op, "");
  EXPECT_NE(op.why.find("run again, KV cache full: "), std::string::npos)
      << op.why;
  // The bits are those of the logits.
  EXPECT_EQ(op.at.expected, outcome->bits.first()->expected);
  EXPECT_EQ(op.at.found, outcome->bits.first()->found);
  EXPECT_NE(op.at.expected, op.at.found);
}

// A run of its own by the same reference, before, and traced behind.
TEST(BatchCheck, SharesItsReference) {
  ChangedModel changed;
  changed.tensor = "blk.1.attn_v.weight";
  const auto all = texts(2, 6);
  auto check = BatchCheck::open(changed, options(2), positionsOf(all));
  ASSERT_TRUE(check) << check.error().message;
  ReferenceCheck own(options(2).import, gpu::Backend::Emulated,
                     check->reference());
  auto truth = ChunkInterpreter::open(tinyModel(), options(2).import);
  ASSERT_TRUE(truth) << truth.error().message;
  auto step = (*truth)->run(all[0].prompt, 0);
  ASSERT_TRUE(step) << step.error().message;
  ASSERT_TRUE(own.add(all[0].prompt, 0, *step));
  auto outcome = check->run(tinyModel(), all);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->first);
  EXPECT_EQ(outcome->first->op.op, "layer 1 attn_v");
  EXPECT_EQ(outcome->bits.rows(), positions(all));
  EXPECT_GT(own.bits().different(), 0u);
  auto first = own.firstDifference(tinyModel());
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->op, "layer 1 attn_v");
}

} // namespace
} // namespace orrery::runtime
