// A GGUF file: shape, accounting, tokenizer, metadata, tensors. A file that
// cannot be run is still listed; what keeps it from running is said.
#include "runtime/command/Inspect.h"
#include "runtime/command/Json.h"

#include "models/QuotedText.h"
#include "models/Tokenizer.h"

#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;

namespace orrery::command {
namespace {

using namespace models;

std::string valueText(const GgufValue &value) {
  if (value.isArray()) {
    return formatv("{0} {1}s", value.count(), ggufTypeName(value.elementType()))
        .str();
  }
  if (auto text = value.asString()) {
    return quoted(*text);
  }
  if (auto flag = value.asBool()) {
    return *flag ? "true" : "false";
  }
  if (auto number = value.asFloat()) {
    return floatText(*number);
  }
  if (auto number = value.asSigned()) {
    return std::to_string(*number);
  }
  auto number = value.asUnsigned();
  return number ? std::to_string(*number) : "?";
}

/// Bytes of the matrices that one decoded token reads, as stored.
uint64_t weightBytes(const GgufFile &file, const ModelConfig &config) {
  uint64_t sum = 0;
  for (const TensorShape &shape : expectedTensors(config)) {
    const GgufTensor *tensor = file.findTensor(shape.name);
    bool lookedUp = shape.name == "token_embd.weight" && !config.tiedEmbeddings;
    sum += tensor && !lookedUp ? tensor->sizeBytes : 0;
  }
  return sum;
}

std::string configText(const GgufFile &file, const ModelConfig &c) {
  return shapeText(c) +
         formatv("{0:N} parameters; {1:N} MACs and {2:N} B of weights a token; "
                 "KV cache {3:N} B (q8) or {4:N} B (f16) a position\n",
                 parameterCount(c), decodeMacsPerToken(c), weightBytes(file, c),
                 kvBytesPerToken(c, KvFormat::Q8),
                 kvBytesPerToken(c, KvFormat::F16))
             .str();
}

std::string tokenizerText(const GgufFile &file) {
  if (!file.find("tokenizer.ggml.model")) {
    return "no tokenizer\n";
  }
  auto tokenizer = Tokenizer::fromGguf(file);
  if (!tokenizer) {
    return "cannot be used: " + tokenizer.error().message + "\n";
  }
  return formatv("tokenizer: {0} pieces, begin {1}, end {2}, unknown {3}\n",
                 tokenizer->vocabSize(), tokenizer->bos(), tokenizer->eos(),
                 tokenizer->unknown())
      .str();
}

std::string text(const GgufFile &file) {
  std::string out =
      formatv("GGUF version {0}, {1} keys, {2} tensors\n", file.version(),
              file.metadata().size(), file.tensors().size());
  auto config = readModelConfig(file);
  out += config ? configText(file, *config)
                : "cannot be run: " + config.error().message + "\n";
  out += tokenizerText(file) + "\nmetadata\n";
  for (const GgufEntry &entry : file.metadata()) {
    out += formatv("  {0,-40} {1}\n", entry.key, valueText(entry.value));
  }
  out += "\ntensors\n";
  for (const GgufTensor &t : file.tensors()) {
    out += formatv("  {0,-28} {1,-5} {2,-16} {3,12:N} B\n", t.name,
                   layoutOf(t.type).name, t.shapeText(), t.sizeBytes);
  }
  return out;
}

Json configJson(const GgufFile &file, const ModelConfig &c) {
  Json out = shapeJson(c);
  out["weight_bytes_per_token"] = weightBytes(file, c);
  return out;
}

Json json(const GgufFile &file) {
  Json out = {{"gguf_version", file.version()}};
  auto config = readModelConfig(file);
  if (config) {
    out["config"] = configJson(file, *config);
  } else {
    out["cannot_be_run"] = config.error().message;
  }
  Json metadata = Json::object(), tensors = Json::array();
  for (const GgufEntry &entry : file.metadata()) {
    metadata[std::string(entry.key)] = valueText(entry.value);
  }
  for (const GgufTensor &t : file.tensors()) {
    tensors.push_back({{"name", t.name},
                       {"type", layoutOf(t.type).name},
                       {"shape", t.shapeText()},
                       {"bytes", t.sizeBytes}});
  }
  out["metadata"] = metadata;
  out["tensors"] = tensors;
  return out;
}

} // namespace

Expected<std::string> inspectModel(const InspectArguments &arguments) {
  auto file = GgufFile::open(arguments.file);
  if (!file) {
    return file.error();
  }
  return arguments.json ? dump(json(*file)) : text(*file);
}

} // namespace orrery::command
