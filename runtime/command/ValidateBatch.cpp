#include "runtime/command/ValidateBatch.h"

#include "runtime/command/DifferenceReport.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

std::vector<SequenceText> textsOf(std::span<const int32_t> ids, int64_t count,
                                  int64_t more, int64_t context) {
  std::vector<SequenceText> texts;
  for (int64_t i = 0; i < count; ++i) {
    // One position is left to be decoded, if there are two.
    const int64_t most = std::max<int64_t>(context - 1, 1);
    const auto length = size_t(std::min(int64_t(ids.size()) + i, most));
    SequenceText text{{ids.front()}, 0};
    const size_t others = std::max<size_t>(ids.size() - 1, 1);
    while (text.prompt.size() < length) {
      const size_t at = (text.prompt.size() - 1 + size_t(i)) % others;
      text.prompt.push_back(ids[ids.size() > 1 ? 1 + at : 0]);
    }
    text.more = std::clamp<int64_t>(
        more, 1, std::max<int64_t>(context - int64_t(length), 0));
    texts.push_back(std::move(text));
  }
  return texts;
}

int64_t positionsOf(std::span<const SequenceText> texts) {
  int64_t sum = 0;
  for (const SequenceText &text : texts) {
    sum += text.positions();
  }
  return sum;
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
