// Sequences of a batch on the GPU reference, emulated: whose pages are whose,
// what is refused, what running out of pages changes.
#include "tests/gpu-reference/OneModel.h"

namespace orrery::gpu {
namespace {

using models::KvPages;

/// The model of OneModel with room for a batch, two sequences of it read.
class TwoSequences : public OneModel {
protected:
  TwoSequences() {
    options.batch = 4;
    options.pagePositions = 32;
    for (Sequence &s : sequences) {
      s = pages().open();
    }
  }
  KvPages &pages() { return reference().pages(); }
  std::string message(std::vector<SequenceToken> tokens) {
    auto step = reference().decode(tokens);
    return step ? "" : step.error().message;
  }
  void readPrompts() {
    ASSERT_TRUE(reference().run(sequences[0], prompts[0], 0));
    ASSERT_TRUE(reference().run(sequences[1], prompts[1], 0));
  }
  /// What each has alone for its next token, one behind the other.
  ReadOut expected() {
    ReadOut out;
    for (const std::vector<int32_t> &prompt : prompts) {
      std::vector<int32_t> ids = prompt;
      ids.push_back(kNext);
      const ReadOut all = golden().read(ids, {prompt.size(), 1});
      out.bits.insert(out.bits.end(), all.bits.end() - config.vocab,
                      all.bits.end());
      out.greedy.push_back(all.greedy.back());
    }
    return out;
  }
  std::vector<SequenceToken> next() const {
    return {{sequences[0], kNext, 3}, {sequences[1], kNext, 3}};
  }
  ReadOut found() {
    ReadOut out;
    auto step = reference().decode(next());
    EXPECT_TRUE(step) << step.error().message;
    if (step) {
      append(out, step->logits, step->greedy);
    }
    return out;
  }

  static constexpr int32_t kNext = 5;
  Sequence sequences[2];
  std::vector<int32_t> prompts[2] = {{1, 2, 3}, {4, 30, 21}};
};

// The tables of two sequences change places behind the reference's back: the
// comparison that all of the above stands on must see it.
TEST_F(TwoSequences, SwappedTablesAreFound) {
  ASSERT_NO_FATAL_FAILURE(readPrompts());
  EXPECT_TRUE(found() == expected());
  const int32_t first = pages().table(sequences[0])[0];
  for (Sequence s : sequences) {
    pages().truncate(s, 0);
  }
  for (Sequence s : sequences) { // the page freed last is the first taken
    ASSERT_TRUE(pages().reserve(s, 4));
    pages().setFilled(s, 3);
  }
  ASSERT_EQ(pages().table(sequences[1])[0], first);
  EXPECT_FALSE(found() == expected());
}

TEST_F(TwoSequences, RefusesWhatIsNoBatch) {
  ASSERT_NO_FATAL_FAILURE(readPrompts());
  const auto [a, b] = std::pair(sequences[0], sequences[1]);
  EXPECT_EQ(message({}), "step: expected 1 to 4 sequences, found 0");
  EXPECT_EQ(message(std::vector<SequenceToken>(5, {a, 1, 3})),
            "step: expected 1 to 4 sequences, found 5");
  EXPECT_EQ(message({{a, 1, 3}, {b, 1, 3}, {a, 1, 3}}),
            "step: expected each sequence once, found sequence " +
                std::to_string(a) + " twice");
  EXPECT_EQ(message({{a, 1, 3}, {77, 1, 3}}), "step: sequence 77 is not open");
  EXPECT_EQ(message({{a, 1, 3}, {b, 1, 40}}),
            "step: expected positions below 40, found 40");
  EXPECT_EQ(message({{a, 1, 3}, {b, -1, 3}}),
            "token_embd (llm.embed): sequence " + std::to_string(b) +
                ", position 3: expected an id below " +
                std::to_string(config.vocab) + ", found -1");
  EXPECT_EQ(message({{a, 1, 3}, {b, 1, 4}}),
            "layer 0 attention (llm.attention): sequence " + std::to_string(b) +
                ": expected position 3 or one before it, found 4");
  // A number that is used again has none of the rows of the one before.
  pages().close(b);
  ASSERT_EQ(pages().open(), b);
  EXPECT_EQ(message({{a, 1, 3}, {b, 1, 3}}),
            "layer 0 attention (llm.attention): sequence " + std::to_string(b) +
                ": expected position 0 or one before it, found 3");
  EXPECT_EQ(message({{a, 1, 3}, {b, 1, 0}}), "");
}

// Neither sequence moves when there is no page for one of them.
TEST_F(OneModel, PagesRunOutForAllOrNone) {
  options.batch = 2;
  options.pages = std::make_shared<KvPages>(
      *KvPages::create(models::kvLayout(config, options.kv, 32), 3));
  KvPages &pages = *options.pages;
  const Sequence a = pages.open(), b = pages.open(), c = pages.open();
  ASSERT_TRUE(pages.reserve(c, 1));
  std::mt19937 random(8);
  const auto ids = randomIds(random, config.vocab, 33);
  for (Sequence s : {a, b}) {
    for (size_t at = 0; at < 32; at += 4) {
      ASSERT_TRUE(
          reference().run(s, std::span(ids).subspan(at, 4), uint32_t(at)));
    }
  }
  const std::vector<SequenceToken> tokens = {{a, ids[32], 32},
                                             {b, ids[32], 32}};
  auto full = reference().decode(tokens);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message,
            "KV cache full: 2 sequences need 2 more pages of 32 positions (" +
                std::to_string(pages.layout().pageBytes()) +
                " bytes each), 0 of 3 are free");
  EXPECT_EQ(pages.table(a).size(), 1u);
  EXPECT_EQ(pages.filled(a), 32);
  pages.close(c);
  EXPECT_FALSE(reference().decode(tokens)) << "one page is not enough for two";
  auto alone = reference().decode(std::span(tokens).first(1));
  ASSERT_TRUE(alone) << alone.error().message;
  ReadOut found;
  append(found, alone->logits, alone->greedy);
  const ReadOut expected = golden().read(ids, {4, 4, 4, 4, 4, 4, 4, 4, 1});
  EXPECT_TRUE(std::equal(found.bits.begin(), found.bits.end(),
                         expected.bits.end() - config.vocab));
}

TEST_F(OneModel, PagesOfAnotherLayoutAreRefused) {
  auto other = models::kvLayout(config, options.kv, 32);
  other.kvHeads += 1;
  options.pages = std::make_shared<KvPages>(*KvPages::create(other, 3));
  auto opened = Reference::open(weights, options, Backend::Emulated);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("expected KV pages of 2 layers, "),
            std::string::npos)
      << opened.error().message;
}

// The reference's own sequence is one of its pages' sequences, and goes with
// it; those of others stay.
TEST_F(OneModel, ItsOwnSequenceBesideThoseOfOthers) {
  options.pages = std::make_shared<KvPages>(
      *KvPages::create(models::kvLayout(config, options.kv, 32), 4));
  const Sequence theirs = options.pages->open();
  ASSERT_TRUE(options.pages->reserve(theirs, 33));
  const std::vector<int32_t> ids = {1, 2, 3};
  {
    auto shared = openReference(weights, options);
    ASSERT_TRUE(shared);
    EXPECT_TRUE(read(*shared, ids, {2, 1}) == golden().read(ids, {2, 1}));
    EXPECT_EQ(options.pages->openSequences(), 2);
    auto times = shared->time(3, 0, 1);
    EXPECT_TRUE(times) << times.error().message;
    EXPECT_EQ(options.pages->usedPages(), 2);
    EXPECT_TRUE(shared->run(ids, 0));
  }
  EXPECT_EQ(options.pages->openSequences(), 1);
  EXPECT_EQ(options.pages->table(theirs).size(), 2u);
}

TEST_F(TwoSequences, ABatchIsTimed) {
  auto one = reference().time(20, 1, 1);
  auto four = reference().time(20, 1, 1, 4);
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(four) << four.error().message;
  // Weights once, rows of K and V of each.
  const int64_t rows = 21 * models::kvBytesPerToken(config, options.kv);
  EXPECT_GE(four->bytes - one->bytes, 3 * rows);
  EXPECT_LT(four->bytes, one->bytes + 4 * rows);
  EXPECT_FALSE(reference().time(20, 1, 1, 5));
  EXPECT_EQ(pages().usedPages(), 0);
}

} // namespace
} // namespace orrery::gpu
