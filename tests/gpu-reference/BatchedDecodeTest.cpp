// Batched decode of the GPU reference, emulated: several sequences over one
// page allocator, each with the bits of the interpreter run on it alone.
#include "gpu-reference/Reference.h"

#include "gpu-reference/emulation/Settings.h"
#include "tests/gpu-reference/OneModel.h"
#include "tests/gpu-reference/Orders.h"
#include "tests/gpu-reference/ReferenceModel.h"

#include <set>

namespace orrery::gpu {
namespace {

using models::KvPages;

/// A text, what the interpreter has for it alone, and how much of it is read.
struct Text {
  std::vector<int32_t> ids;
  size_t prompt = 0; ///< ids that are read in chunks
  ReadOut alone;
  Sequence sequence = -1;
  size_t read = 0;

  bool done() const { return read == ids.size(); }
};

/// Logits and choice that `text` has alone at its next position.
bool sameRow(const Text &text, int64_t vocab, std::span<const float> logits,
             int32_t greedy) {
  const size_t first = text.read * size_t(vocab);
  for (size_t i = 0; i < size_t(vocab); ++i) {
    if (std::bit_cast<uint32_t>(logits[i]) != text.alone.bits[first + i]) {
      return false;
    }
  }
  return text.alone.greedy[text.read] == greedy;
}

class Texts {
public:
  Texts(const models::WeightSource &weights, const ReferenceOptions &options,
        std::mt19937 &random)
      : vocab(weights.config().vocab), chunk(size_t(options.chunk)),
        random(random), golden(weights, options) {}

  Text make(size_t prompt, size_t more) {
    Text text{randomIds(random, vocab, prompt + more), prompt, {}};
    std::vector<size_t> sizes = stepSizes(prompt, {chunk});
    sizes.insert(sizes.end(), more, 1);
    text.alone = golden.read(text.ids, sizes);
    return text;
  }

  /// The next chunk of a prompt.
  void readChunk(Reference &reference, Text &text) {
    const size_t size = std::min(chunk, text.prompt - text.read);
    auto step = reference.run(text.sequence,
                              std::span(text.ids).subspan(text.read, size),
                              uint32_t(text.read));
    ASSERT_TRUE(step) << step.error().message;
    for (size_t t = 0; t < size; ++t, ++text.read) {
      EXPECT_TRUE(sameRow(text, vocab, step->row(int64_t(t)), step->greedy[t]))
          << "sequence " << text.sequence << ", position " << text.read;
    }
  }

  /// The next token of each, in a random order.
  void decode(Reference &reference, std::vector<Text *> running) {
    std::shuffle(running.begin(), running.end(), random);
    std::vector<SequenceToken> tokens;
    for (Text *text : running) {
      tokens.push_back(
          {text->sequence, text->ids[text->read], uint32_t(text->read)});
    }
    auto step = reference.decode(tokens);
    ASSERT_TRUE(step) << step.error().message;
    for (size_t i = 0; i < running.size(); ++i) {
      Text &text = *running[i];
      EXPECT_TRUE(sameRow(text, vocab, step->row(int64_t(i)), step->greedy[i]))
          << "sequence " << text.sequence << ", position " << text.read;
      ++text.read;
    }
  }

  int64_t vocab;
  size_t chunk;
  std::mt19937 &random;
  Golden golden;
};

/// All `texts`, `batch` at most at once: whoever ends makes room for the next,
/// prompts are read in turns, and between them all others decode.
void readTogether(Texts &all, Reference &reference, std::vector<Text> &texts,
                  size_t batch, std::mt19937 &random) {
  KvPages &pages = reference.pages();
  size_t next = 0;
  std::vector<Text *> running;
  while (next < texts.size() || !running.empty()) {
    while (running.size() < batch && next < texts.size()) {
      running.push_back(&texts[next++]);
      running.back()->sequence = pages.open();
    }
    std::vector<Text *> prompts, decoding;
    for (Text *text : running) {
      (text->read < text->prompt ? prompts : decoding).push_back(text);
    }
    if (!prompts.empty() && (decoding.empty() || random() % 3 != 0)) {
      ASSERT_NO_FATAL_FAILURE(
          all.readChunk(reference, *prompts[random() % prompts.size()]));
    } else {
      ASSERT_NO_FATAL_FAILURE(all.decode(reference, decoding));
    }
    const Status valid = pages.verify();
    ASSERT_TRUE(valid) << valid.error().message;
    std::erase_if(running, [&](Text *text) {
      if (text->done()) {
        pages.close(text->sequence);
      }
      return text->done();
    });
  }
}

struct Formats {
  StoredFormat weights;
  models::KvFormat kv;
};

void PrintTo(const Formats &f, std::ostream *out) {
  *out << "weights " << int(f.weights) << " kv " << int(f.kv);
}

class BatchedBits : public testing::TestWithParam<Formats> {
protected:
  void run(uint32_t seed, Backend backend) {
    std::mt19937 random(seed * 31 + uint32_t(GetParam().kv));
    const models::ModelConfig config = oddConfig(random);
    // GEMV's rows, the most it has, and what GEMM takes.
    const size_t batch = std::array<size_t, 4>{3, 8, 9, 12}[seed % 4];
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(config) +
                 ", batch " + std::to_string(batch));
    const models::RandomWeights weights(config, random());
    ReferenceOptions options;
    options.weights = GetParam().weights;
    options.kv = GetParam().kv;
    options.chunk = 11;
    options.context = 100;
    options.batch = int64_t(batch);
    options.graph = seed % 3 != 0;
    // Fewer pages than all sequences could take, and given by their owner.
    options.pages = std::make_shared<KvPages>(*KvPages::create(
        models::kvLayout(config, options.kv, 32), int64_t(2 * batch)));
    Texts all(weights, options, random);
    std::vector<Text> texts;
    for (size_t i = 0; i < batch + 3; ++i) {
      const size_t prompt = 1 + random() % 45;
      texts.push_back(all.make(prompt, 1 + random() % 8));
    }
    auto reference = openReference(weights, options, backend);
    ASSERT_TRUE(reference);
    EXPECT_EQ(&reference->pages(), options.pages.get());
    readTogether(all, *reference, texts, batch, random);
    EXPECT_EQ(options.pages->openSequences(), 0);
    EXPECT_EQ(options.pages->usedPages(), 0);
    EXPECT_GT(options.pages->mostUsedPages(), int64_t(batch) / 2);
  }
};

TEST_P(BatchedBits, EachSequenceAsTheInterpreterAlone) {
  uint32_t seed = 0;
  emulated::inSeveralOrders([&] { run(++seed, Backend::Emulated); });
}

TEST_P(BatchedBits, OnADevice) {
  if (auto device = findDevice(); !device) {
    GTEST_SKIP() << device.error().message;
  }
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    run(seed, Backend::Device);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, BatchedBits,
    testing::Values(Formats{StoredFormat::Q8_0, models::KvFormat::Q8},
                    Formats{StoredFormat::Q8_0, models::KvFormat::F16},
                    Formats{StoredFormat::Q8_0, models::KvFormat::Q4},
                    Formats{StoredFormat::Q4_0, models::KvFormat::Q8},
                    Formats{StoredFormat::F16, models::KvFormat::F16}));

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
  auto one = reference().time(20, 1, 3);
  auto four = reference().time(20, 1, 3, 4);
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(four) << four.error().message;
  EXPECT_GT(four->medianUs, one->medianUs);
  // Weights once, rows of K and V of each.
  const int64_t rows = 21 * models::kvBytesPerToken(config, options.kv);
  EXPECT_GE(four->bytes - one->bytes, 3 * rows);
  EXPECT_LT(four->bytes, one->bytes + 4 * rows);
  EXPECT_FALSE(reference().time(20, 1, 1, 5));
  EXPECT_EQ(pages().usedPages(), 0);
}

} // namespace
} // namespace orrery::gpu
