// orrery zoo: the built-in model shapes.
#include "models/Zoo.h"
#include "models/NotModelled.h"
#include "runtime/command/Console.h"
#include "runtime/command/Inspect.h"
#include "runtime/command/Json.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using llvm::formatv;

namespace orrery::command {
namespace {

using models::KvFormat;
using models::ModelConfig;
using models::ZooModel;

/// What can be done with a shape.
std::string useOf(const ModelConfig &config) {
  if (!models::verifyCompiled(config)) {
    return "counted only";
  }
  std::string without;
  for (const models::Omission &omission : models::omissions(config)) {
    without += (without.empty() ? "without " : "; ") + omission.what;
  }
  return without.empty() ? "whole" : without;
}

std::string text(const std::vector<ZooModel> &zoo) {
  std::string out = formatv(
      "{0,-19}{1,6}{2,7}{3,6}{4,4}{5,9}{6,7}{7,8}{8,9}{9,17}{10,17}{11,11}"
      "{12,11}  {13}\n",
      "model", "layers", "hidden", "heads", "KV", "head_dim", "ffn", "vocab",
      "context", "parameters", "MACs a token", "KV f16", "KV q8", "compiled");
  std::vector<ModelConfig> configs;
  for (const ZooModel &model : zoo) {
    const ModelConfig &c = model.config;
    out += formatv("{0,-19}{1,6}{2,7}{3,6}{4,4}{5,9}{6,7}{7,8}{8,9}{9,17:N}"
                   "{10,17:N}{11,11:N}{12,11:N}  {13}\n",
                   c.name, c.layers, c.hidden, c.heads, c.kvHeads, c.headDim,
                   c.intermediate, c.vocab, c.contextLength,
                   models::parameterCount(c), models::decodeMacsPerToken(c),
                   models::kvBytesPerToken(c, KvFormat::F16),
                   models::kvBytesPerToken(c, KvFormat::Q8), useOf(c));
    configs.push_back(c);
  }
  return out +
         "KV: bytes a position, all layers, scales included; MACs: matrices of "
         "one token, without attention\n" +
         models::omissionText(configs);
}

Json toJson(const ZooModel &model) {
  Json out = shapeJson(model.config);
  out["checkpoint"] = model.checkpoint;
  out["published_parameters"] = model.parameters;
  out["sources"] = model.sources;
  return out;
}

} // namespace

ExitCode execute(const ZooArguments &arguments) {
  auto zoo = models::zooModels();
  if (!zoo) {
    return fail(kBroken, zoo.error());
  }
  Json list = Json::array();
  for (const ZooModel &model : *zoo) {
    list.push_back(toJson(model));
  }
  llvm::outs() << (arguments.json ? dump(list) : text(*zoo));
  return kOk;
}

} // namespace orrery::command
