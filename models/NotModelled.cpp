#include "models/NotModelled.h"

#include <algorithm>
#include <utility>

namespace orrery::models {

static std::string expertsText(const ModelExtras &extras) {
  return std::to_string(extras.experts) + " experts, " +
         std::to_string(extras.expertsPerToken) + " a token";
}

std::vector<Omission> omissions(const ModelConfig &config) {
  const ModelExtras &extras = config.extras;
  std::vector<Omission> out;
  if (extras.qkvBias) {
    out.push_back({"q, k and v biases",
                   "in the parameters; their three vector sums a layer are in "
                   "no time and no SRAM figure"});
  }
  if (extras.qkNorm) {
    out.push_back({"q and k norms",
                   "in the parameters; their RMSNorm of each head of q and k "
                   "is in no time and no SRAM figure"});
  }
  if (extras.slidingWindow > 0) {
    std::string window = std::to_string(extras.slidingWindow);
    out.push_back({"sliding window of " + window,
                   "attention and KV cache are of all positions, which past " +
                       window + " is more than the model needs"});
  }
  if (!extras.ropeScaling.empty()) {
    out.push_back({"RoPE scaling (" + extras.ropeScaling + ")",
                   "other values in the RoPE rows; no tick and no byte "
                   "depends on them"});
  }
  if (extras.experts > 0) {
    out.push_back({expertsText(extras),
                   "counted only: parameters are all experts', MACs those of a "
                   "token's experts and the router; not compiled, not timed"});
  }
  return out;
}

std::string titleOf(const ModelConfig &config) {
  std::string title = config.name;
  const char *before = " (without ";
  for (const Omission &omission : omissions(config)) {
    title += before + omission.what;
    before = "; ";
  }
  return title == config.name ? title : title + ")";
}

std::string omissionText(std::span<const ModelConfig> configs) {
  // In the order of the first model that has each.
  std::vector<std::pair<std::string, std::string>> lines;
  for (const ModelConfig &config : configs) {
    for (const Omission &omission : omissions(config)) {
      std::string line = omission.what + ": " + omission.effect;
      auto same = std::ranges::find(
          lines, line, &std::pair<std::string, std::string>::first);
      if (same == lines.end()) {
        lines.emplace_back(line, config.name);
      } else {
        same->second += ", " + config.name;
      }
    }
  }
  std::string text;
  for (const auto &[line, names] : lines) {
    text += "not modelled" + (configs.size() > 1 ? " in " + names : "") + ": " +
            line + "\n";
  }
  return text;
}

Status verifyCompiled(const ModelConfig &config) {
  if (config.extras.experts > 0) {
    return Error{config.name + ": mixture of experts (" +
                 expertsText(config.extras) +
                 ") is not supported: expected a dense model; `orrery zoo` and "
                 "`orrery kv` count it"};
  }
  return Success{};
}

} // namespace orrery::models
