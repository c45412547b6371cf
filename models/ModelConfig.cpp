// What follows from a config's numbers alone: tensors, checks, accounting.
// Reading one from a file is in ReadConfig.cpp.
#include "models/ModelConfig.h"

#include <cassert>
#include <cmath>
#include <limits>

namespace orrery::models {

namespace {

using Wide = __int128;

constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max();
constexpr Wide kMaxCount = std::numeric_limits<int64_t>::max();

Error outOfRange(std::string_view field, const std::string &expected,
                 const std::string &found) {
  return Error{"config " + std::string(field) + ": expected " + expected +
               ", found " + found};
}

struct NamedExtent {
  std::string_view name;
  int64_t value;
};

Status verifyExtents(const ModelConfig &config) {
  const NamedExtent extents[] = {
      {"layers", config.layers},
      {"hidden", config.hidden},
      {"heads", config.heads},
      {"kvHeads", config.kvHeads},
      {"headDim", config.headDim},
      {"intermediate", config.intermediate},
      {"vocab", config.vocab},
      {"contextLength", config.contextLength},
      {"ropeDimension", config.ropeDimension},
  };
  for (const NamedExtent &extent : extents) {
    if (extent.value < 1 || extent.value > kMaxExtent) {
      return outOfRange(extent.name, "1 to " + std::to_string(kMaxExtent),
                        std::to_string(extent.value));
    }
  }
  return Success{};
}

/// MACs of one layer's matrices, which is also the number of their parameters.
Wide layerMacs(const ModelConfig &config) {
  Wide attention = 2 * Wide(config.queryWidth()) + 2 * Wide(config.kvWidth());
  return Wide(config.hidden) * (attention + 3 * Wide(config.intermediate));
}

Wide wideDecodeMacs(const ModelConfig &config) {
  return config.layers * layerMacs(config) + Wide(config.vocab) * config.hidden;
}

Wide wideParameters(const ModelConfig &config) {
  Wide embedding = Wide(config.vocab) * config.hidden;
  Wide norms = (2 * Wide(config.layers) + 1) * config.hidden;
  return wideDecodeMacs(config) + norms +
         (config.tiedEmbeddings ? 0 : embedding);
}

Wide wideAttentionMacs(const ModelConfig &config, int64_t context) {
  return 2 * Wide(config.layers) * config.queryWidth() * context;
}

int64_t narrow(Wide count) {
  assert(count >= 0 && count <= kMaxCount && "verifyConfig bounds the counts");
  return static_cast<int64_t>(count);
}

void appendLayer(const ModelConfig &config, int64_t layer,
                 std::vector<TensorShape> &tensors) {
  std::string prefix = "blk." + std::to_string(layer) + ".";
  auto vector = [&](const char *name, int64_t cols) {
    tensors.push_back({prefix + name + ".weight", 1, cols, true});
  };
  auto matrix = [&](const char *name, int64_t rows, int64_t cols) {
    tensors.push_back({prefix + name + ".weight", rows, cols, false});
  };
  vector("attn_norm", config.hidden);
  matrix("attn_q", config.queryWidth(), config.hidden);
  matrix("attn_k", config.kvWidth(), config.hidden);
  matrix("attn_v", config.kvWidth(), config.hidden);
  matrix("attn_output", config.hidden, config.queryWidth());
  vector("ffn_norm", config.hidden);
  matrix("ffn_gate", config.intermediate, config.hidden);
  matrix("ffn_up", config.intermediate, config.hidden);
  matrix("ffn_down", config.hidden, config.intermediate);
}

} // namespace

std::vector<TensorShape> expectedTensors(const ModelConfig &config) {
  std::vector<TensorShape> tensors;
  tensors.push_back({"token_embd.weight", config.vocab, config.hidden, false});
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    appendLayer(config, layer, tensors);
  }
  tensors.push_back({"output_norm.weight", 1, config.hidden, true});
  if (!config.tiedEmbeddings) {
    tensors.push_back({"output.weight", config.vocab, config.hidden, false});
  }
  return tensors;
}

Status verifyConfig(const ModelConfig &config) {
  if (Status extents = verifyExtents(config); !extents) {
    return extents;
  }
  if (config.heads % config.kvHeads != 0) {
    return outOfRange("kvHeads",
                      "a divisor of heads " + std::to_string(config.heads),
                      std::to_string(config.kvHeads));
  }
  if (config.ropeDimension > config.headDim || config.ropeDimension % 2 != 0) {
    return outOfRange("ropeDimension",
                      "an even number up to headDim " +
                          std::to_string(config.headDim),
                      std::to_string(config.ropeDimension));
  }
  if (!(config.normEps > 0) || !std::isfinite(config.normEps)) {
    return outOfRange("normEps", "a positive number",
                      std::to_string(config.normEps));
  }
  if (!(config.ropeTheta > 0) || !std::isfinite(config.ropeTheta)) {
    return outOfRange("ropeTheta", "a positive number",
                      std::to_string(config.ropeTheta));
  }
  // Bytes take at most 4 an element and KV 2 · 2 bytes: leave room for both.
  Wide attention = wideAttentionMacs(config, config.contextLength);
  if (wideParameters(config) > kMaxCount / 8 || attention > kMaxCount / 8) {
    return Error{"config: expected counts of parameters and attention MACs "
                 "below 2^60, found more"};
  }
  return Success{};
}

int64_t parameterCount(const ModelConfig &config) {
  return narrow(wideParameters(config));
}

int64_t kvBytesPerToken(const ModelConfig &config, KvFormat format) {
  constexpr int64_t kScaleBytes = 2;
  int64_t headBytes = 0;
  switch (format) {
  case KvFormat::F16:
    headBytes = 2 * config.headDim;
    break;
  case KvFormat::Q8:
    headBytes = config.headDim + kScaleBytes;
    break;
  case KvFormat::Q4:
    headBytes = (config.headDim + 1) / 2 + kScaleBytes;
    break;
  }
  return narrow(2 * Wide(config.layers) * config.kvHeads * headBytes);
}

int64_t decodeMacsPerToken(const ModelConfig &config) {
  return narrow(wideDecodeMacs(config));
}

int64_t attentionMacsPerToken(const ModelConfig &config, int64_t context) {
  return narrow(wideAttentionMacs(config, context));
}

} // namespace orrery::models
