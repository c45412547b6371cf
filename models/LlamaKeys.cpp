#include "models/LlamaKeys.h"

#include "models/QuotedText.h"

#include <cstdio>
#include <initializer_list>
#include <optional>
#include <string>

namespace orrery::models {

namespace {

/// Keys that are read, after "llama.".
constexpr std::string_view kUnderstoodKeys[] = {
    "vocab_size",
    "context_length",
    "embedding_length",
    "block_count",
    "feed_forward_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.layer_norm_rms_epsilon",
    "rope.freq_base",
    "rope.dimension_count",
};

/// Keys of features that are not supported, with the values that turn the
/// feature off.
struct NeutralKey {
  std::string_view suffix;
  std::string_view feature;
  std::initializer_list<std::string_view> neutral;
};

const NeutralKey kNeutralKeys[] = {
    {"expert_count", "mixture of experts", {"0"}},
    {"expert_used_count", "mixture of experts", {"0"}},
    {"rope.scaling.type", "rope scaling", {"none"}},
    {"rope.scaling.factor", "rope scaling", {"1", "0"}},
    {"rope.scaling.attn_factor", "rope scaling", {"1"}},
    {"rope.scaling.finetuned", "rope scaling", {"false"}},
    {"rope.scale_linear", "rope scaling", {"1", "0"}},
    {"attention.sliding_window", "sliding window", {"0"}},
    {"attention.causal", "bidirectional attention", {"true"}},
    {"attention.scale", "attention scale", {"0"}},
    {"attention.clamp_kqv", "clamped q, k, v", {"0"}},
    {"attention.max_alibi_bias", "alibi", {"0"}},
    {"attn_logit_softcapping", "logit soft-capping", {"0"}},
    {"final_logit_softcapping", "logit soft-capping", {"0"}},
    {"logit_scale", "logit scale", {"1", "0"}},
    {"residual_scale", "residual scale", {"1", "0"}},
    {"embedding_scale", "embedding scale", {"1", "0"}},
    {"use_parallel_residual", "parallel residual", {"false"}},
    {"tensor_data_layout", "tensor layout", {"Meta AI original pth"}},
};

/// A scalar as text, to compare and to show.
std::string valueText(const GgufValue &value) {
  if (std::optional<bool> flag = value.asBool()) {
    return *flag ? "true" : "false";
  }
  if (std::optional<std::string_view> text = value.asString()) {
    return std::string(*text);
  }
  if (std::optional<uint64_t> number = value.asUnsigned()) {
    return std::to_string(*number);
  }
  if (std::optional<double> number = value.asFloat()) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.9g", *number);
    return text;
  }
  return std::string(ggufTypeName(value.type()));
}

std::string at(const GgufValue &value) {
  return "byte " + std::to_string(value.fileOffset()) + ": ";
}

Status checkNeutral(const GgufEntry &entry, const NeutralKey &rule) {
  std::string found = valueText(entry.value);
  std::string expected;
  for (std::string_view neutral : rule.neutral) {
    if (found == neutral) {
      return Success{};
    }
    expected += (expected.empty() ? "" : " or ") + std::string(neutral);
  }
  return Error{at(entry.value) + "metadata " + quoted(entry.key) + ": " +
               std::string(rule.feature) + " is not supported: expected " +
               expected + ", found " + quoted(found)};
}

bool isUnderstood(std::string_view suffix) {
  // Without rope.scaling.type it has no effect, with it the file is refused.
  if (suffix == "rope.scaling.original_context_length") {
    return true;
  }
  for (std::string_view key : kUnderstoodKeys) {
    if (key == suffix) {
      return true;
    }
  }
  return false;
}

Status checkKey(const GgufEntry &entry, std::string_view suffix) {
  for (const NeutralKey &rule : kNeutralKeys) {
    if (rule.suffix == suffix) {
      return checkNeutral(entry, rule);
    }
  }
  if (isUnderstood(suffix)) {
    return Success{};
  }
  return Error{at(entry.value) + "metadata " + quoted(entry.key) +
               ": expected a known key of architecture \"llama\", found one "
               "that may change the result"};
}

} // namespace

Status checkLlamaKeys(const GgufFile &file) {
  constexpr std::string_view prefix = "llama.";
  for (const GgufEntry &entry : file.metadata()) {
    if (entry.key.starts_with(prefix)) {
      Status status = checkKey(entry, entry.key.substr(prefix.size()));
      if (!status) {
        return status;
      }
    }
  }
  return Success{};
}

} // namespace orrery::models
