// A ModelConfig from GGUF metadata of architecture "llama", held against the
// file's tensors: readModelConfig.
//
// What the model has beyond a plain decoder is refused here (tensors) and in
// LlamaKeys.cpp (metadata).
#include "models/ModelConfig.h"

#include "models/LlamaKeys.h"
#include "models/QuotedText.h"

#include <limits>
#include <set>

namespace orrery::models {

namespace {

constexpr std::string_view kArchitecture = "llama";

/// Reads numbers under "llama." and keeps the first problem.
class KeyReader {
public:
  explicit KeyReader(const GgufFile &file) : file(file) {}

  bool has(std::string_view suffix) const { return file.find(key(suffix)); }

  bool required(std::string_view suffix, int64_t &value) {
    return store(suffix, file.requireUnsigned(key(suffix)), value);
  }

  bool optional(std::string_view suffix, int64_t fallback, int64_t &value) {
    value = fallback;
    return !has(suffix) || required(suffix, value);
  }

  bool real(std::string_view suffix, std::optional<double> fallback,
            double &value) {
    Expected<double> number = fallback ? file.floatOr(key(suffix), *fallback)
                                       : file.requireFloat(key(suffix));
    if (!number) {
      return fail(number.error());
    }
    value = *number;
    return true;
  }

  bool fail(Error error) {
    problem = std::move(error);
    return false;
  }

  Error problem;

private:
  static std::string key(std::string_view suffix) {
    return std::string(kArchitecture) + "." + std::string(suffix);
  }

  bool store(std::string_view suffix, const Expected<uint64_t> &number,
             int64_t &value) {
    if (!number) {
      return fail(number.error());
    }
    constexpr uint64_t kMax = std::numeric_limits<int32_t>::max();
    if (*number > kMax) {
      return fail(Error{"metadata " + quoted(key(suffix)) +
                        ": expected at most " + std::to_string(kMax) +
                        ", found " + std::to_string(*number)});
    }
    value = static_cast<int64_t>(*number);
    return true;
  }

  const GgufFile &file;
};

bool readHeadDim(KeyReader &keys, ModelConfig &config) {
  if (config.heads == 0) {
    return keys.fail(Error{"metadata \"llama.attention.head_count\": expected "
                           "1 or more, found 0"});
  }
  if (!keys.has("attention.key_length") && config.hidden % config.heads != 0) {
    return keys.fail(
        Error{"metadata \"llama.embedding_length\": expected a multiple of " +
              std::to_string(config.heads) +
              " heads (there is no llama.attention.key_length), found " +
              std::to_string(config.hidden)});
  }
  int64_t valueLength = 0;
  if (!keys.optional("attention.key_length", config.hidden / config.heads,
                     config.headDim) ||
      !keys.optional("attention.value_length", config.headDim, valueLength)) {
    return false;
  }
  if (valueLength != config.headDim) {
    return keys.fail(Error{
        "metadata \"llama.attention.value_length\": expected the key length " +
        std::to_string(config.headDim) + ", found " +
        std::to_string(valueLength)});
  }
  return true;
}

bool readShape(KeyReader &keys, ModelConfig &config) {
  return keys.required("block_count", config.layers) &&
         keys.required("embedding_length", config.hidden) &&
         keys.required("feed_forward_length", config.intermediate) &&
         keys.required("context_length", config.contextLength) &&
         keys.required("attention.head_count", config.heads) &&
         keys.optional("attention.head_count_kv", config.heads,
                       config.kvHeads) &&
         readHeadDim(keys, config) &&
         keys.optional("rope.dimension_count", config.headDim,
                       config.ropeDimension);
}

bool readReals(KeyReader &keys, ModelConfig &config) {
  double eps = 0;
  if (!keys.real("attention.layer_norm_rms_epsilon", std::nullopt, eps) ||
      !keys.real("rope.freq_base", 10000.0, config.ropeTheta)) {
    return false;
  }
  config.normEps = static_cast<float>(eps);
  return true;
}

/// From the token list, else the embedding, else llama.vocab_size; where
/// several are there they must agree.
bool readVocab(const GgufFile &file, KeyReader &keys, ModelConfig &config) {
  if (!keys.optional("vocab_size", 0, config.vocab)) {
    return false;
  }
  int64_t found = config.vocab;
  const GgufValue *tokens = file.find("tokenizer.ggml.tokens");
  const GgufTensor *embedding = file.findTensor("token_embd.weight");
  if (tokens && tokens->isArray()) {
    found = static_cast<int64_t>(tokens->count());
  } else if (embedding) {
    found = static_cast<int64_t>(embedding->extents[1]);
  }
  if (file.find("llama.vocab_size") && config.vocab != found) {
    return keys.fail(Error{"metadata \"llama.vocab_size\": expected " +
                           std::to_string(found) +
                           " as in the token list or embedding, found " +
                           std::to_string(config.vocab)});
  }
  config.vocab = found;
  return true;
}

Status readIdentity(const GgufFile &file, ModelConfig &config) {
  Expected<std::string_view> architecture =
      file.requireString("general.architecture");
  if (!architecture) {
    return architecture.error();
  }
  if (*architecture != kArchitecture) {
    uint64_t offset = file.find("general.architecture")->fileOffset();
    return Error{"byte " + std::to_string(offset) + ": architecture " +
                 quoted(*architecture) + " is not supported (supported: " +
                 std::string(kArchitecture) + ")"};
  }
  config.architecture = *architecture;
  if (file.find("general.name")) {
    Expected<std::string_view> name = file.requireString("general.name");
    if (!name) {
      return name.error();
    }
    config.name = *name;
  }
  return Success{};
}

std::string foundShape(const GgufTensor &tensor) {
  return "tensor " + quoted(tensor.name) + ": found " + tensor.shapeText();
}

Status checkShape(const GgufFile &file, const TensorShape &shape) {
  GgufTensor expected{};
  expected.dimensions = shape.isVector ? 1 : 2;
  expected.extents = {static_cast<uint64_t>(shape.cols),
                      static_cast<uint64_t>(shape.rows), 1, 1};
  std::string what = "tensor " + quoted(shape.name) +
                     ": expected shape (innermost first) " +
                     expected.shapeText() + ", found ";
  const GgufTensor *tensor = file.findTensor(shape.name);
  if (!tensor) {
    return Error{what + "no such tensor"};
  }
  if (tensor->extents != expected.extents) {
    return Error{"byte " + std::to_string(tensor->infoOffset) + ": " + what +
                 tensor->shapeText()};
  }
  return Success{};
}

Status refuseTensor(const GgufTensor &tensor) {
  std::string_view reason = "no part of a dense llama decoder";
  if (tensor.name.starts_with("rope_freqs")) {
    reason = "rope scaling is not supported";
  } else if (tensor.name.ends_with(".bias")) {
    reason = "biases are not supported";
  } else if (tensor.name.find("_exps.") != std::string_view::npos ||
             tensor.name.find("ffn_gate_inp.") != std::string_view::npos) {
    reason = "mixture of experts is not supported";
  }
  return Error{"byte " + std::to_string(tensor.infoOffset) + ": " +
               foundShape(tensor) + ": " + std::string(reason)};
}

/// Holds the file's tensors against the config's, both ways.
Status checkTensors(const GgufFile &file, const ModelConfig &config) {
  // Before the list is made: its length is the file's claim.
  if (static_cast<uint64_t>(config.layers) > file.tensors().size()) {
    return Error{"metadata \"llama.block_count\": expected at most one layer "
                 "for each of the " +
                 std::to_string(file.tensors().size()) + " tensors, found " +
                 std::to_string(config.layers)};
  }
  std::set<std::string_view> known;
  std::vector<TensorShape> expected = expectedTensors(config);
  for (const TensorShape &shape : expected) {
    known.insert(shape.name);
  }
  for (const GgufTensor &tensor : file.tensors()) {
    if (!known.count(tensor.name)) {
      return refuseTensor(tensor);
    }
  }
  for (const TensorShape &shape : expected) {
    if (Status status = checkShape(file, shape); !status) {
      return status;
    }
  }
  return Success{};
}

} // namespace

Expected<ModelConfig> readModelConfigMetadata(const GgufFile &file) {
  ModelConfig config;
  if (Status status = readIdentity(file, config); !status) {
    return status.error();
  }
  if (Status status = checkLlamaKeys(file); !status) {
    return status.error();
  }
  KeyReader keys(file);
  if (!readShape(keys, config) || !readReals(keys, config) ||
      !readVocab(file, keys, config)) {
    return keys.problem;
  }
  config.ropePairing = RopePairing::Adjacent;
  config.tiedEmbeddings =
      !file.tensors().empty() && !file.findTensor("output.weight");
  if (Status status = verifyConfig(config); !status) {
    return status.error();
  }
  return config;
}

Expected<ModelConfig> readModelConfig(const GgufFile &file) {
  Expected<ModelConfig> config = readModelConfigMetadata(file);
  if (!config) {
    return config;
  }
  if (Status status = checkTensors(file, *config); !status) {
    return status.error();
  }
  return config;
}

} // namespace orrery::models
