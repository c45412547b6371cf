// Arbitrary bytes as a model file: everything that reads one must either refuse
// them or hand out only what lies inside them.
//
// Start: orrery_gguf_fuzzer -max_len=65536 WORK-FOLDER tests/fuzz/gguf-corpus
#include "models/Weights.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

using namespace orrery;
using namespace orrery::models;

namespace {

/// Ends the run when something that must hold does not.
void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

uint64_t readEverything(const GgufValue &value) {
  uint64_t sum = value.asUnsigned().value_or(0) + value.asBool().value_or(0);
  sum += static_cast<uint64_t>(value.asSigned().value_or(0));
  for (char character : value.asString().value_or("")) {
    sum += static_cast<unsigned char>(character);
  }
  for (const GgufValue &element : value.elements()) {
    sum += readEverything(element);
  }
  return sum;
}

void readTensors(const GgufFile &file) {
  for (const GgufTensor &tensor : file.tensors()) {
    require(file.findTensor(tensor.name) == &tensor);
    require(!tensor.shapeText().empty());
    uint64_t sum = 0;
    if (auto data = file.data(tensor)) {
      require(data->size() == tensor.sizeBytes);
      for (std::byte byte : *data) {
        sum += std::to_integer<unsigned>(byte);
      }
    }
    require(sum <= 255 * tensor.sizeBytes);
  }
}

void useTokenizer(const Tokenizer &tokenizer, std::string_view text) {
  for (bool parseSpecial : {false, true}) {
    std::vector<TokenId> ids = tokenizer.encode(
        text, {.addSpecial = true, .parseSpecial = parseSpecial});
    for (TokenId id : ids) {
      require(tokenizer.contains(id));
    }
    StreamDecoder decoder(tokenizer, parseSpecial);
    std::string streamed;
    for (TokenId id : ids) {
      streamed += decoder.next(id);
    }
    streamed += decoder.finish();
    require(streamed == tokenizer.decode(ids, parseSpecial));
  }
}

void useWeights(std::span<const std::byte> bytes) {
  Expected<WeightFile> file = WeightFile::parse(bytes, {.requantize = true});
  if (!file) {
    require(!file.error().message.empty());
    return;
  }
  require(parameterCount(file->config()) > 0);
  for (const TensorShape &shape : expectedTensors(file->config())) {
    Expected<std::vector<float>> values = file->vector(shape.name);
    require(values &&
            static_cast<int64_t>(values->size()) == shape.rows * shape.cols);
    for (WeightFormat format : {WeightFormat::Q8_0, WeightFormat::Q4_0}) {
      Expected<QuantizedMatrix> matrix = file->matrix(shape.name, format);
      require(!matrix ||
              (matrix->rows == shape.rows && matrix->cols == shape.cols));
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const std::byte> bytes =
      std::as_bytes(std::span<const uint8_t>(data, size));
  Expected<GgufFile> file = GgufFile::parse(bytes);
  if (!file) {
    require(!file.error().message.empty());
    return 0;
  }
  for (const GgufEntry &entry : file->metadata()) {
    require(file->find(entry.key) == &entry.value);
    readEverything(entry.value);
  }
  readTensors(*file);
  Expected<ModelConfig> config = readModelConfig(*file);
  require(!config || static_cast<bool>(verifyConfig(*config)));
  if (Expected<Tokenizer> tokenizer = Tokenizer::fromGguf(*file)) {
    std::string_view text(reinterpret_cast<const char *>(data),
                          size < 256 ? size : 256);
    useTokenizer(*tokenizer, text);
    useTokenizer(*tokenizer, "a b </s>\xF0\x9F\x9A\x80 \xFF");
  }
  useWeights(bytes);
  return 0;
}
