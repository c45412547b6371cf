// A complete small model file in memory, for tests that change one thing in it.
#pragma once

#include "models/ModelConfig.h"
#include "tests/models/GgufBuilder.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::models {

inline ModelConfig tinyConfig() {
  ModelConfig config;
  config.name = "tiny";
  config.architecture = "llama";
  config.layers = 2;
  config.hidden = 32;
  config.heads = 4;
  config.kvHeads = 2;
  config.headDim = 8;
  config.intermediate = 40;
  config.vocab = 6;
  config.contextLength = 64;
  config.normEps = 1e-5f;
  config.ropeDimension = 8;
  config.tiedEmbeddings = true;
  return config;
}

/// What a test changes about the file that writeModel makes.
struct ModelEdits {
  /// Metadata keys to leave out.
  std::set<std::string_view> dropKeys;
  std::set<std::string_view> dropTensors;
  /// Adds entries and tensors after the model's own.
  std::function<void(GgufBuilder &)> add = [](GgufBuilder &) {};
  /// Value of every element of the tensors.
  std::function<float(const std::string &, size_t)> value =
      [](const std::string &, size_t index) {
        return 0.125f * static_cast<float>(index % 13) - 0.5f;
      };
};

/// The file of `config` with F32 tensors and a vocabulary without byte tokens.
inline std::vector<std::byte> writeModel(const ModelConfig &config,
                                         const ModelEdits &edits = {}) {
  GgufBuilder file;
  file.string("general.architecture", config.architecture);
  file.string("general.name", config.name);
  auto u32 = [&](std::string_view key, int64_t value) {
    if (!edits.dropKeys.count(key)) {
      file.u32(key, static_cast<uint32_t>(value));
    }
  };
  u32("llama.block_count", config.layers);
  u32("llama.embedding_length", config.hidden);
  u32("llama.feed_forward_length", config.intermediate);
  u32("llama.context_length", config.contextLength);
  u32("llama.attention.head_count", config.heads);
  u32("llama.attention.head_count_kv", config.kvHeads);
  u32("llama.attention.key_length", config.headDim);
  u32("llama.rope.dimension_count", config.ropeDimension);
  if (!edits.dropKeys.count("llama.attention.layer_norm_rms_epsilon")) {
    file.f32("llama.attention.layer_norm_rms_epsilon", config.normEps);
  }
  if (!edits.dropKeys.count("tokenizer.ggml.tokens")) {
    std::vector<std::string> pieces = {"<unk>",
                                       "<s>",
                                       "</s>",
                                       "\xE2\x96\x81",
                                       "a",
                                       "\xE2\x96\x81"
                                       "a"};
    pieces.resize(static_cast<size_t>(config.vocab), "b");
    file.string("tokenizer.ggml.model", "llama");
    file.strings("tokenizer.ggml.tokens", pieces);
    std::vector<int32_t> kinds(pieces.size(), 1);
    kinds[0] = 2;
    kinds[1] = kinds[2] = 3;
    file.array("tokenizer.ggml.token_type", GgufType::I32, kinds);
  }
  for (const TensorShape &shape : expectedTensors(config)) {
    if (edits.dropTensors.count(shape.name)) {
      continue;
    }
    std::vector<float> values(static_cast<size_t>(shape.rows * shape.cols));
    for (size_t index = 0; index < values.size(); ++index) {
      values[index] = edits.value(shape.name, index);
    }
    std::vector<uint64_t> extents = {static_cast<uint64_t>(shape.cols)};
    if (!shape.isVector) {
      extents.push_back(static_cast<uint64_t>(shape.rows));
    }
    file.tensorF32(shape.name, extents, values);
  }
  edits.add(file);
  return file.build();
}

} // namespace orrery::models
