// Texts that a reference reads together, a prompt's chunk or a token of each at
// a time, held against the interpreter on each alone.
#pragma once

#include "tests/gpu-reference/ReferenceModel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <span>
#include <vector>

namespace orrery::gpu {

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
inline bool sameRow(const Text &text, int64_t vocab,
                    std::span<const float> logits, int32_t greedy) {
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
    decodeInOrder(reference, running);
  }
  void decodeInOrder(Reference &reference, const std::vector<Text *> &running) {
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
inline void readTogether(Texts &all, Reference &reference,
                         std::vector<Text> &texts, size_t batch,
                         std::mt19937 &random) {
  models::KvPages &pages = reference.pages();
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

} // namespace orrery::gpu
