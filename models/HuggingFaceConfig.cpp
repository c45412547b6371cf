#include "models/HuggingFaceConfig.h"

#include "machine/WholeFile.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <set>

namespace orrery::models {
namespace {

using Json = nlohmann::json;
using Keys = std::set<std::string>;

/// What a model_type says without a key, the keys it has beyond kShape, and
/// those without which the library takes another value than is taken here.
struct Family {
  const char *type;
  bool qkvBias, qkNorm;
  Keys keys, required;
};
const std::array<Family, 5> kFamilies = {{
    {"llama", false, false, {"attention_bias", "mlp_bias"}, {}},
    {"mistral", false, false, {}, {"num_key_value_heads", "sliding_window"}},
    {"qwen2",
     true,
     false,
     {"use_sliding_window", "max_window_layers"},
     {"num_key_value_heads"}},
    {"qwen3",
     false,
     true,
     {"attention_bias", "use_sliding_window", "max_window_layers"},
     {"num_key_value_heads", "head_dim"}},
    {"mixtral",
     false,
     false,
     {"num_local_experts", "num_experts_per_tok", "router_aux_loss_coef",
      "router_jitter_noise", "output_router_logits"},
     {"num_key_value_heads", "rope_theta", "rms_norm_eps"}},
}};

/// Keys that are read for every family, here or in checkSwitches.
const Keys kShape = {"model_type",
                     "hidden_size",
                     "num_hidden_layers",
                     "num_attention_heads",
                     "num_key_value_heads",
                     "head_dim",
                     "intermediate_size",
                     "vocab_size",
                     "rope_theta",
                     "rope_scaling",
                     "sliding_window",
                     "hidden_act",
                     "max_position_embeddings",
                     "rms_norm_eps",
                     "tie_word_embeddings",
                     "name",
                     "_name_or_path"};
/// Keys that do not change what is computed.
const Keys kIgnored = {
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

  void real(const char *key, double &value,
            std::optional<double> otherwise = std::nullopt) {
    auto found = json.find(key);
    if (found == json.end() || found->is_null()) {
      otherwise ? void(value = *otherwise)
                : fail(key, "a number above 0", "no such key");
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

  /// `key` must be absent, or `off`.
  void mustBe(const char *key, const Json &off) {
    auto found = json.find(key);
    if (found != json.end() && *found != off) {
      fail(key, off.dump() + ", as nothing else is supported", found->dump());
    }
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

std::string familyNames() {
  std::string names;
  for (const Family &family : kFamilies) {
    names += (names.empty() ? "\"" : ", \"") + std::string(family.type) + "\"";
  }
  return names;
}

const Family *familyOf(Reader &reader) {
  auto found = reader.json.find("model_type");
  bool there = found != reader.json.end();
  for (const Family &family : kFamilies) {
    if (there && *found == family.type) {
      return &family;
    }
  }
  // Where this list is asked for most, the reason is worth its words.
  bool latent = there && found->is_string() &&
                found->get<std::string>().starts_with("deepseek_v");
  reader.fail("model_type", "one of " + familyNames(),
              !there ? "no such key"
                     : found->dump() +
                           (latent ? " (multi-head latent attention is not "
                                     "supported)"
                                   : ""));
  return nullptr;
}

// What changes the result and is switched off, or refused.
void checkSwitches(Reader &reader, const Family &family) {
  reader.mustBe("hidden_act", "silu");
  reader.mustBe("attention_bias", false);
  reader.mustBe("mlp_bias", false);
  for (const std::string &key : family.required) {
    if (!reader.json.contains(key)) {
      reader.fail(key,
                  "the key, as " + std::string(family.type) +
                      " has a default of its own",
                  "no such key");
    }
  }
  for (const auto &[key, value] : reader.json.items()) {
    if (!kShape.contains(key) && !kIgnored.contains(key) &&
        !family.keys.contains(key)) {
      reader.fail(key,
                  "a key of a " + std::string(family.type) + " config.json",
                  value.dump());
    }
  }
}

// A window in all layers; Qwen's key alone switches nothing on.
void readWindow(Reader &reader, const Family &family, int64_t &window) {
  bool used = true;
  if (family.keys.contains("use_sliding_window")) {
    reader.flag("use_sliding_window", used);
    if (used) {
      reader.fail("use_sliding_window",
                  "false, as windows of some layers are not supported", "true");
    }
  } else if (family.type == std::string_view("llama")) {
    reader.mustBe("sliding_window", nullptr);
  }
  if (used) {
    reader.integer("sliding_window", window, 0);
  }
}

std::string shortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return text;
}

// "rope_scaling": null, or an object whose kind stands under rope_type or, in
// older files, type.
void readRopeScaling(Reader &reader, std::string &scaling) {
  auto found = reader.json.find("rope_scaling");
  if (found == reader.json.end() || found->is_null()) {
    return;
  }
  const char *key = found->contains("rope_type") ? "rope_type" : "type";
  std::string type = found->is_object() ? found->value(key, Json()).dump() : "";
  Keys known = {"rope_type", "type", "factor"};
  if (type == "\"llama3\"") {
    known.insert({"low_freq_factor", "high_freq_factor",
                  "original_max_position_embeddings"});
  } else if (type != "\"linear\"" && type != "\"default\"") {
    return reader.fail("rope_scaling",
                       "null, or an object of rope_type \"llama3\", "
                       "\"linear\" or \"default\"",
                       found->dump());
  }
  Reader inner(*found, reader.where + ": rope_scaling");
  double factor = 1, ignored = 1;
  if (type != "\"default\"") {
    inner.real("factor", factor);
  }
  for (const std::string &number : known) {
    if (number != "rope_type" && number != "type" && number != "factor") {
      inner.real(number.c_str(), ignored);
    }
  }
  for (const auto &[name, value] : found->items()) {
    if (!known.contains(name)) {
      inner.fail(name, "a key of this rope_scaling", value.dump());
    }
  }
  if (!inner.problem.message.empty() && reader.problem.message.empty()) {
    reader.problem = inner.problem;
  }
  if (type != "\"default\"" && !(type == "\"linear\"" && factor == 1)) {
    scaling =
        type.substr(1, type.size() - 2) + ", factor " + shortNumber(factor);
  }
}

void readExtras(Reader &reader, const Family &family, ModelExtras &extras) {
  extras.qkvBias = family.qkvBias;
  extras.qkNorm = family.qkNorm;
  readWindow(reader, family, extras.slidingWindow);
  readRopeScaling(reader, extras.ropeScaling);
  if (family.keys.contains("num_local_experts")) {
    reader.integer("num_local_experts", extras.experts);
    reader.integer("num_experts_per_tok", extras.expertsPerToken);
  }
}

void readShape(Reader &reader, ModelConfig &config) {
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
  config.normEps = float(eps);
  config.ropeDimension = config.headDim;
  config.ropePairing = RopePairing::Half;
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
  ModelConfig config;
  if (const Family *family = familyOf(reader)) {
    checkSwitches(reader, *family);
    config.architecture = family->type;
    config.name = nameOf(json, where);
    readShape(reader, config);
    readExtras(reader, *family, config.extras);
  }
  if (!reader.problem.message.empty()) {
    return reader.problem;
  }
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
