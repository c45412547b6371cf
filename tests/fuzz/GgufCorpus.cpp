// Writes the seeds of GgufFuzzer into the folder given as argument: small files
// that pass every check, so that the fuzzer starts behind them.
//
// Start: orrery_gguf_corpus tests/fuzz/gguf-corpus
#include "models/Quantize.h"
#include "tests/models/TinyModel.h"

#include <fstream>
#include <iostream>

using namespace orrery;
using namespace orrery::models;

namespace {

ModelConfig seedConfig() {
  ModelConfig config = tinyConfig();
  config.layers = 1;
  config.hidden = 8;
  config.heads = 2;
  config.kvHeads = 1;
  config.headDim = 4;
  config.ropeDimension = 4;
  config.intermediate = 6;
  return config;
}

std::vector<std::byte> untiedModel() {
  ModelConfig config = seedConfig();
  config.tiedEmbeddings = false;
  return writeModel(config);
}

/// A model whose embedding is stored in blocks.
std::vector<std::byte> quantizedModel(WeightFormat format, TensorType type) {
  ModelConfig config = seedConfig();
  config.hidden = 32;
  auto blocks = static_cast<size_t>(config.vocab);
  std::vector<float> values(blocks * kQuantBlock, 0.25f);
  std::vector<uint16_t> scales(blocks);
  std::vector<int8_t> codes(values.size());
  quantizeRow(format, values, scales, codes);
  std::vector<std::byte> packed(blocks * layoutOf(type).blockBytes);
  packBlocks(format, scales, codes, packed);
  ModelEdits edits;
  edits.dropTensors = {"token_embd.weight"};
  edits.add = [&](GgufBuilder &file) {
    file.tensor("token_embd.weight", {32, blocks}, type, packed);
  };
  return writeModel(config, edits);
}

std::vector<std::byte> everyValueType() {
  GgufBuilder file;
  file.version = 2;
  file.u32("general.alignment", 32).f32("f32", 1).boolean("bool", true);
  file.entry("u8", GgufType::U8, Bytes().number<uint8_t>(1).content);
  file.entry("i8", GgufType::I8, Bytes().number<int8_t>(-1).content);
  file.entry("u16", GgufType::U16, Bytes().number<uint16_t>(1).content);
  file.entry("i16", GgufType::I16, Bytes().number<int16_t>(-1).content);
  file.entry("i32", GgufType::I32, Bytes().number(-1).content);
  file.entry("u64", GgufType::U64, Bytes().number(~uint64_t(0)).content);
  file.entry("i64", GgufType::I64, Bytes().number(int64_t(-1)).content);
  file.entry("f64", GgufType::F64, Bytes().number(0.1).content);
  file.string("string", "text").strings("strings", {"", "a"});
  Bytes nested;
  nested.number(uint32_t(9)).number(uint64_t(2));
  nested.number(uint32_t(0)).number(uint64_t(1)).number<uint8_t>(7);
  nested.number(uint32_t(8)).number(uint64_t(1)).string("x");
  file.entry("nested", GgufType::Array, nested.content);
  file.tensorF32("scalar", {}, {1})
      .tensorF32("cube", {2, 2, 2, 1}, std::vector<float>(8));
  file.tensorAt("empty", {32, 0}, 8, 0);
  return file.build();
}

std::vector<std::byte> byteVocabulary() {
  std::vector<std::string> pieces = {"<unk>", "<s>", "</s>", "<u>"};
  std::vector<int32_t> kinds = {2, 3, 3, 4};
  for (const char *piece : {"a", "b", "ab", "\xE2\x96\x81",
                            "\xE2\x96\x81"
                            "a",
                            "\xC3\xA9"}) {
    pieces.push_back(piece);
    kinds.push_back(1);
  }
  for (const char *piece : {"<0xF0>", "<0x9F>", "<0x9A>", "<0x80>", "<0xFF>"}) {
    pieces.push_back(piece);
    kinds.push_back(6);
  }
  std::vector<float> scores;
  for (size_t index = 0; index < pieces.size(); ++index) {
    scores.push_back(-static_cast<float>(index * 7 % 5));
  }
  GgufBuilder file;
  file.string("tokenizer.ggml.model", "llama");
  file.strings("tokenizer.ggml.tokens", pieces);
  file.array("tokenizer.ggml.scores", GgufType::F32, scores);
  file.array("tokenizer.ggml.token_type", GgufType::I32, kinds);
  file.u32("tokenizer.ggml.bos_token_id", 1);
  file.boolean("tokenizer.ggml.add_eos_token", true);
  return file.build();
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: orrery_gguf_corpus FOLDER\n";
    return 2;
  }
  auto write = [&](const char *name, const std::vector<std::byte> &bytes) {
    std::ofstream file(std::string(argv[1]) + "/" + name + ".gguf",
                       std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return static_cast<bool>(file.flush());
  };
  bool written =
      write("tied-f32", writeModel(seedConfig())) &&
      write("untied-f32", untiedModel()) &&
      write("q8", quantizedModel(WeightFormat::Q8_0, TensorType::Q8_0)) &&
      write("q4", quantizedModel(WeightFormat::Q4_0, TensorType::Q4_0)) &&
      write("every-value-type", everyValueType()) &&
      write("byte-vocabulary", byteVocabulary());
  if (!written) {
    std::cerr << "cannot write into " << argv[1] << "\n";
    return 1;
  }
  return 0;
}
