#include "models/HuggingFaceConfig.h"

#include "machine/WholeFile.h"

#include <nlohmann/json.hpp>

#include <set>

namespace orrery::models {
namespace {

using Json = nlohmann::json;

/// Keys that are read.
const std::set<std::string> kRead = {"model_type",
                                     "hidden_size",
                                     "num_hidden_layers",
                                     "num_attention_heads",
                                     "num_key_value_heads",
                                     "head_dim",
                                     "intermediate_size",
                                     "vocab_size",
                                     "rope_theta",
                                     "max_position_embeddings",
                                     "rms_norm_eps",
                                     "tie_word_embeddings",
                                     "name",
                                     "_name_or_path"};
/// Keys that do not change what is computed.
const std::set<std::string> kIgnored = {
    "architectures",        "torch_dtype",    "dtype",
    "transformers_version", "use_cache",      "initializer_range",
    "bos_token_id",         "eos_token_id",   "pad_token_id",
    "attention_dropout",    "pretraining_tp", "is_llama_config",
    "rope_interleaved",     "source"};

/// Reads keys of one object and keeps the first problem.
class Reader {
public:
  Reader(const Json &json, std::string where)
      : json(json), where(std::move(where)) {}

  void integer(const char *key, int64_t &value,
               std::optional<int64_t> otherwise = std::nullopt) {
    auto found = json.find(key);
    if (found == json.end() || found->is_null()) {
      return otherwise ? void(value = *otherwise)
                       : fail(key, "a whole number", "no such key");
    }
    if (!found->is_number_integer() || *found < 1 ||
        *found > int64_t(1) << 31) {
      return fail(key, "a whole number from 1 to 2147483648", found->dump());
    }
    value = found->get<int64_t>();
  }

  void real(const char *key, double &value, double otherwise) {
    auto found = json.find(key);
    if (found == json.end() || found->is_null()) {
      value = otherwise;
    } else if (!found->is_number() || found->get<double>() <= 0) {
      fail(key, "a number above 0", found->dump());
    } else {
      value = found->get<double>();
    }
  }

  void flag(const char *key, bool &value) {
    auto found = json.find(key);
    if (found == json.end()) {
      value = false;
    } else if (!found->is_boolean()) {
      fail(key, "true or false", found->dump());
    } else {
      value = found->get<bool>();
    }
  }

  /// `key` must be absent, or one of `off`.
  void mustBeOff(const char *key, const std::vector<Json> &off) {
    auto found = json.find(key);
    if (found == json.end()) {
      return;
    }
    std::string expected;
    for (const Json &value : off) {
      if (*found == value) {
        return;
      }
      expected += (expected.empty() ? "" : " or ") + value.dump();
    }
    fail(key, expected + ", as nothing else is supported", found->dump());
  }

  void fail(const std::string &key, const std::string &expected,
            const std::string &found) {
    if (problem.message.empty()) {
      problem = {where + ": " + key + ": expected " + expected + ", found " +
                 found.substr(0, 80)};
    }
  }

  const Json &json;
  std::string where;
  Error problem;
};

// What changes the result and is switched off, or refused.
void checkSwitches(Reader &reader) {
  static const std::vector<std::pair<const char *, std::vector<Json>>> kOff = {
      {"model_type", {"llama"}},   {"hidden_act", {"silu"}},
      {"rope_scaling", {nullptr}}, {"sliding_window", {nullptr}},
      {"attention_bias", {false}}, {"mlp_bias", {false}}};
  std::set<std::string> known = kRead;
  known.insert(kIgnored.begin(), kIgnored.end());
  for (const auto &[key, off] : kOff) {
    reader.mustBeOff(key, off);
    known.insert(key);
  }
  if (!reader.json.contains("model_type")) {
    reader.fail("model_type", "\"llama\"", "no such key");
  }
  for (const auto &[key, value] : reader.json.items()) {
    if (!known.contains(key)) {
      reader.fail(key, "a key of a llama config.json", value.dump());
    }
  }
}

std::string nameOf(const Json &json, const std::string &where) {
  for (const char *key : {"name", "_name_or_path"}) {
    if (auto found = json.find(key);
        found != json.end() && found->is_string() && *found != "") {
      return found->get<std::string>();
    }
  }
  return where;
}

} // namespace

Expected<ModelConfig> parseHuggingFaceConfig(std::string_view text,
                                             const std::string &where) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return Error{where + ": expected a JSON object"};
  }
  Reader reader(json, where);
  checkSwitches(reader);
  ModelConfig config;
  config.architecture = "llama";
  config.name = nameOf(json, where);
  reader.integer("hidden_size", config.hidden);
  reader.integer("num_hidden_layers", config.layers);
  reader.integer("num_attention_heads", config.heads);
  reader.integer("num_key_value_heads", config.kvHeads, config.heads);
  reader.integer("intermediate_size", config.intermediate);
  reader.integer("vocab_size", config.vocab);
  reader.integer("max_position_embeddings", config.contextLength);
  int64_t byHidden = config.heads > 0 ? config.hidden / config.heads : 0;
  reader.integer("head_dim", config.headDim, byHidden);
  double eps = 0;
  reader.real("rms_norm_eps", eps, 1e-6);
  reader.real("rope_theta", config.ropeTheta, 10000.0);
  reader.flag("tie_word_embeddings", config.tiedEmbeddings);
  if (!reader.problem.message.empty()) {
    return reader.problem;
  }
  config.normEps = float(eps);
  config.ropeDimension = config.headDim;
  config.ropePairing = RopePairing::Half;
  if (Status ok = verifyConfig(config); !ok) {
    return Error{where + ": " + ok.error().message};
  }
  return config;
}

Expected<ModelConfig> readHuggingFaceConfig(const std::string &path) {
  constexpr uint64_t kMostBytes = 1 << 20;
  auto bytes = readWholeFile(path, kMostBytes);
  if (!bytes) {
    return Error{path + ": " + bytes.error().message};
  }
  auto *first = reinterpret_cast<const char *>(bytes->data());
  return parseHuggingFaceConfig({first, bytes->size()}, path);
}

} // namespace orrery::models
