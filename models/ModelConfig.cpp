// What follows from a config's numbers alone: tensors, checks, accounting.
// Reading one from a file is in ReadConfig.cpp.
#include "models/ModelConfig.h"

#include <algorithm>
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

Status verifyExtras(const ModelExtras &extras) {
  if (extras.slidingWindow < 0 || extras.slidingWindow > kMaxExtent) {
    return outOfRange("slidingWindow", "0 to " + std::to_string(kMaxExtent),
                      std::to_string(extras.slidingWindow));
  }
  if (extras.experts < 0 || extras.experts > kMaxExtent) {
    return outOfRange("experts", "0 to " + std::to_string(kMaxExtent),
                      std::to_string(extras.experts));
  }
  int64_t least = extras.experts > 0 ? 1 : 0;
  if (extras.expertsPerToken < least ||
      extras.expertsPerToken > extras.experts) {
    return outOfRange("expertsPerToken",
                      std::to_string(least) + " to " +
                          std::to_string(extras.experts) + " experts",
                      std::to_string(extras.expertsPerToken));
  }
  return Success{};
}

/// Elements of one layer's matrices, with `experts` feed-forwards.
Wide layerElements(const ModelConfig &config, int64_t experts) {
  Wide attention = 2 * Wide(config.queryWidth()) + 2 * Wide(config.kvWidth());
  bool routed = config.extras.experts > 0;
  Wide feedForward = 3 * Wide(config.intermediate) * (routed ? experts : 1);
  Wide router = routed ? config.extras.experts : 0;
  return Wide(config.hidden) * (attention + feedForward + router);
}

/// Elements of one layer's vectors.
Wide layerVectors(const ModelConfig &config) {
  Wide norms = 2 * Wide(config.hidden);
  Wide biases = Wide(config.queryWidth()) + 2 * Wide(config.kvWidth());
  return norms + (config.extras.qkvBias ? biases : 0) +
         (config.extras.qkNorm ? 2 * Wide(config.headDim) : 0);
}

Wide wideDecodeMacs(const ModelConfig &config) {
  return config.layers * layerElements(config, config.extras.expertsPerToken) +
         Wide(config.vocab) * config.hidden;
}

Wide wideParameters(const ModelConfig &config) {
  Wide embedding = Wide(config.vocab) * config.hidden;
  Wide layer =
      layerElements(config, config.extras.experts) + layerVectors(config);
  return config.layers * layer + config.hidden +
         embedding * (config.tiedEmbeddings ? 1 : 2);
}

Wide wideAttentionMacs(const ModelConfig &config, int64_t context) {
  return 2 * Wide(config.layers) * config.queryWidth() * context;
}

int64_t narrow(Wide count) {
  assert(count >= 0 && count <= kMaxCount && "verifyConfig bounds the counts");
  return static_cast<int64_t>(count);
}

/// Appends the tensors of one layer.
class LayerTensors {
public:
  LayerTensors(const ModelConfig &config, int64_t layer,
               std::vector<TensorShape> &tensors)
      : config(config), prefix("blk." + std::to_string(layer) + "."),
        tensors(tensors) {}

  void append() {
    vector("attn_norm.weight", config.hidden);
    projection("attn_q", config.queryWidth());
    projection("attn_k", config.kvWidth());
    projection("attn_v", config.kvWidth());
    if (config.extras.qkNorm) {
      vector("attn_q_norm.weight", config.headDim);
      vector("attn_k_norm.weight", config.headDim);
    }
    matrix("attn_output.weight", config.hidden, config.queryWidth());
    vector("ffn_norm.weight", config.hidden);
    feedForward();
  }

private:
  void vector(const std::string &name, int64_t cols) {
    tensors.push_back({prefix + name, 1, cols, true});
  }
  void matrix(const std::string &name, int64_t rows, int64_t cols) {
    tensors.push_back({prefix + name, rows, cols, false});
  }
  void projection(const std::string &name, int64_t rows) {
    matrix(name + ".weight", rows, config.hidden);
    if (config.extras.qkvBias) {
      vector(name + ".bias", rows);
    }
  }
  void feedForward() {
    int64_t experts = config.extras.experts;
    int64_t count = std::max<int64_t>(experts, 1);
    const char *suffix = experts > 0 ? "_exps.weight" : ".weight";
    if (experts > 0) {
      matrix("ffn_gate_inp.weight", experts, config.hidden);
    }
    for (const char *name : {"ffn_gate", "ffn_up"}) {
      matrix(std::string(name) + suffix, count * config.intermediate,
             config.hidden);
    }
    matrix(std::string("ffn_down") + suffix, count * config.hidden,
           config.intermediate);
  }

  const ModelConfig &config;
  std::string prefix;
  std::vector<TensorShape> &tensors;
};

} // namespace

std::vector<TensorShape> expectedTensors(const ModelConfig &config) {
  std::vector<TensorShape> tensors;
  tensors.push_back({"token_embd.weight", config.vocab, config.hidden, false});
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    LayerTensors(config, layer, tensors).append();
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
  if (Status extras = verifyExtras(config.extras); !extras) {
    return extras;
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
