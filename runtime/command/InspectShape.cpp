// A shape without weights: sizes, accounting, what is not modelled of it. The
// parts of the text that a model file has too are made here for both.
#include "runtime/command/Inspect.h"

#include "machine/MachineFields.h"
#include "models/NotModelled.h"
#include "models/Zoo.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstdio>

using llvm::formatv;

namespace orrery::command {

using namespace models;

std::string floatText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return text;
}

std::string shapeText(const ModelConfig &c) {
  return formatv(
             "{0}: {1} layers, hidden {2}, {3} heads on {4} KV heads of {5}, "
             "feed-forward {6}, vocabulary {7}, context {8}\n"
             "RoPE base {9}, {10} of {5} elements; RMSNorm eps {11}; {12} "
             "embeddings\n",
             c.name, c.layers, c.hidden, c.heads, c.kvHeads, c.headDim,
             c.intermediate, c.vocab, c.contextLength, numberText(c.ropeTheta),
             c.ropeDimension, floatText(double(c.normEps)),
             c.tiedEmbeddings ? "tied" : "untied")
      .str();
}

Json shapeJson(const ModelConfig &c) {
  Json omitted = Json::array();
  for (const Omission &o : omissions(c)) {
    omitted.push_back({{"what", o.what}, {"effect", o.effect}});
  }
  return {{"name", c.name},
          {"architecture", c.architecture},
          {"layers", c.layers},
          {"hidden", c.hidden},
          {"heads", c.heads},
          {"kv_heads", c.kvHeads},
          {"head_dim", c.headDim},
          {"intermediate", c.intermediate},
          {"vocab", c.vocab},
          {"context_positions", c.contextLength},
          {"rope_theta", c.ropeTheta},
          {"norm_eps", c.normEps},
          {"tied_embeddings", c.tiedEmbeddings},
          {"parameters", parameterCount(c)},
          {"decode_macs_per_token", decodeMacsPerToken(c)},
          {"kv_q8_bytes_per_token", kvBytesPerToken(c, KvFormat::Q8)},
          {"kv_f16_bytes_per_token", kvBytesPerToken(c, KvFormat::F16)},
          {"compiled", bool(verifyCompiled(c))},
          {"not_modelled", omitted}};
}

static std::string text(const ModelConfig &c) {
  return shapeText(c) +
         formatv("{0:N} parameters; {1:N} MACs a token, {2:N} of attention at "
                 "the full context; KV cache {3:N} B (q8) or {4:N} B (f16) a "
                 "position\n",
                 parameterCount(c), decodeMacsPerToken(c),
                 attentionMacsPerToken(c, c.contextLength),
                 kvBytesPerToken(c, KvFormat::Q8),
                 kvBytesPerToken(c, KvFormat::F16))
             .str() +
         (verifyCompiled(c)
              ? "a shape without weights: it can be compiled and timed, not "
                "run\n"
              : "a shape that is counted, not compiled\n") +
         omissionText({&c, 1});
}

Expected<std::string> inspectShape(const InspectArguments &arguments) {
  auto config = loadShape(arguments.file);
  if (!config) {
    return config.error();
  }
  return arguments.json ? dump(shapeJson(*config)) : text(*config);
}

} // namespace orrery::command
