#include "gpu-reference/StepOps.h"

#include <array>

namespace orrery::gpu {

namespace {
struct OpWords {
  std::string_view name, kind;
};

/// By LayerOp.
constexpr std::array<OpWords, kLayerOps> kLayerWords = {{
    {"attn_norm", "llm.rms_norm"},
    {"attn_q", "llm.linear"},
    {"attn_k", "llm.linear"},
    {"attn_v", "llm.linear"},
    {"rope_q", "llm.rope"},
    {"rope_k", "llm.rope"},
    {"attention", "llm.attention"},
    {"attn_output", "llm.linear"},
    {"attn_residual", "llm.add"},
    {"ffn_norm", "llm.rms_norm"},
    {"ffn_gate", "llm.linear"},
    {"ffn_up", "llm.linear"},
    {"ffn_gated", "llm.gated"},
    {"ffn_down", "llm.linear"},
    {"ffn_residual", "llm.add"},
}};
constexpr OpWords kEmbed = {"token_embd", "llm.embed"};
/// From outputNorm() on.
constexpr std::array<OpWords, 3> kLastWords = {{
    {"output_norm", "llm.rms_norm"},
    {"output", "llm.linear"},
    {"argmax", "llm.argmax"},
}};

const OpWords &wordsOf(uint32_t op, uint32_t outputNorm) {
  if (op == 0) {
    return kEmbed;
  }
  return op < outputNorm ? kLayerWords[(op - 1) % kLayerOps]
                         : kLastWords[op - outputNorm];
}
} // namespace

std::string StepOps::name(uint32_t op) const {
  const std::string word(wordsOf(op, outputNorm()).name);
  if (op == 0 || op >= outputNorm()) {
    return word;
  }
  return "layer " + std::to_string((op - 1) / kLayerOps) + " " + word;
}

std::string_view StepOps::kind(uint32_t op) const {
  return wordsOf(op, outputNorm()).kind;
}

} // namespace orrery::gpu
