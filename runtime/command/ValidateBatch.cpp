#include "runtime/command/ValidateBatch.h"

#include "runtime/command/DifferenceReport.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

namespace {
/// Ids of text `i`, and tokens behind them.
struct Lengths {
  int64_t prompt, more;
};

Lengths lengthsOf(int64_t i, int64_t length, int64_t more, int64_t context) {
  // One position is left to be decoded, if there are two.
  const int64_t most = std::max<int64_t>(context - 1, 1);
  const int64_t prompt = std::min(length + i, most);
  return {prompt, std::min(std::max<int64_t>(more, 1), context - prompt)};
}

/// `count` more than `ids`, as a number whose digits are below `vocab`: the
/// lowest behind the first id, the highest that one.
void countUp(std::vector<int32_t> &ids, int64_t count, int64_t vocab) {
  for (size_t at = 1; at <= ids.size() && count > 0; ++at) {
    int32_t &id = ids[at % ids.size()];
    const int64_t sum = id + count;
    id = int32_t(sum % vocab);
    count = sum / vocab;
  }
}
} // namespace

std::vector<int64_t> positionsOfTexts(int64_t length, int64_t count,
                                      int64_t more, int64_t context) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < count; ++i) {
    const Lengths l = lengthsOf(i, length, more, context);
    positions.push_back(l.prompt + l.more);
  }
  return positions;
}

std::vector<SequenceText> textsOf(std::span<const int32_t> ids, int64_t vocab,
                                  int64_t count, int64_t more,
                                  int64_t context) {
  std::vector<SequenceText> texts;
  size_t firstOfLength = 0; ///< of the length of the last one
  for (int64_t i = 0; i < count; ++i) {
    const Lengths l = lengthsOf(i, int64_t(ids.size()), more, context);
    const auto length = size_t(l.prompt);
    if (i > 0 && texts.back().prompt.size() == length) {
      SequenceText text = texts[firstOfLength];
      countUp(text.prompt, i - int64_t(firstOfLength), vocab);
      texts.push_back(std::move(text));
      continue;
    }
    firstOfLength = texts.size();
    SequenceText text{{ids.front()}, l.more};
    const size_t others = std::max<size_t>(ids.size() - 1, 1);
    while (text.prompt.size() < length) {
      const size_t at = (text.prompt.size() - 1 + size_t(i)) % others;
      text.prompt.push_back(ids[ids.size() > 1 ? 1 + at : 0]);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string batchText(const BatchOutcome &outcome) {
  std::string out =
      formatv("batched decode: {0}: {1:N} logits, {2:N} differ\n",
              outcome.text(), outcome.bits.values(), outcome.bits.different())
          .str();
  if (outcome.first) {
    const std::string who =
        formatv("GPU reference's sequence {0}", outcome.first->sequence).str();
    out += differenceText(outcome.first->op, who.c_str());
  }
  return out;
}

Json batchJson(const BatchOutcome &outcome) {
  Json out = {{"sequences", outcome.sequences},
              {"decode_steps", outcome.steps},
              {"greatest_step", outcome.greatestStep},
              {"kv_pages", outcome.pages},
              {"kv_pages_used", outcome.pagesUsed},
              {"values", outcome.bits.values()},
              {"different", outcome.bits.different()},
              {"tokens_chosen", outcome.bits.choices()},
              {"tokens_not_the_interpreters", outcome.bits.otherChoices()}};
  if (outcome.first) {
    out["first_difference"] =
        differenceJson(outcome.first->op, "reference_bits");
    out["first_difference"]["sequence"] = outcome.first->sequence;
  }
  return out;
}

} // namespace orrery::command
