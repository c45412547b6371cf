#include "models/Weights.h"

#include "machine/numerics.h"
#include "models/QuotedText.h"
#include "models/Zoo.h"

#include <algorithm>
#include <utility>

namespace orrery::models {

namespace {

constexpr std::string_view kEmbedding = "token_embd.weight";
constexpr std::string_view kOutput = "output.weight";

std::string tensorAt(const GgufTensor &tensor) {
  return "byte " + std::to_string(tensor.infoOffset) + ": tensor " +
         quoted(tensor.name) + ": ";
}

std::optional<WeightFormat> storedFormat(TensorType type) {
  switch (type) {
  case TensorType::Q8_0:
    return WeightFormat::Q8_0;
  case TensorType::Q4_0:
    return WeightFormat::Q4_0;
  default:
    return std::nullopt;
  }
}

QuantizedMatrix emptyMatrix(const GgufTensor &tensor, WeightFormat format) {
  QuantizedMatrix result;
  result.rows = static_cast<int64_t>(tensor.extents[1]);
  result.cols = static_cast<int64_t>(tensor.extents[0]);
  result.blocksPerRow = blocksPerRow(result.cols);
  result.format = format;
  auto blocks = static_cast<size_t>(result.rows * result.blocksPerRow);
  result.scales.resize(blocks);
  result.codes.resize(blocks * kQuantBlock);
  return result;
}

/// Decodes and quantizes one row after the other, so that the f32 copy of a
/// matrix never exists as a whole.
Status quantizeRows(const GgufTensor &tensor, std::span<const std::byte> data,
                    QuantizedMatrix &result) {
  size_t rowBytes = data.size() / static_cast<size_t>(result.rows);
  auto rowBlocks = static_cast<size_t>(result.blocksPerRow);
  std::vector<float> values(static_cast<size_t>(result.cols));
  for (size_t row = 0; row < static_cast<size_t>(result.rows); ++row) {
    Status decoded = dequantizeRow(
        tensor.type, data.subspan(row * rowBytes, rowBytes), values);
    if (!decoded) {
      return Error{tensorAt(tensor) + decoded.error().message};
    }
    auto bad =
        std::find_if_not(values.begin(), values.end(), numerics::isFinite);
    if (bad != values.end()) {
      return Error{tensorAt(tensor) + "row " + std::to_string(row) +
                   " column " + std::to_string(bad - values.begin()) +
                   ": expected a finite value, found " + std::to_string(*bad)};
    }
    quantizeRow(
        result.format, values,
        std::span(result.scales).subspan(row * rowBlocks, rowBlocks),
        std::span(result.codes)
            .subspan(row * rowBlocks * kQuantBlock, rowBlocks * kQuantBlock));
  }
  return Success{};
}

Status checkScales(const GgufTensor &tensor, const QuantizedMatrix &matrix) {
  for (size_t block = 0; block < matrix.scales.size(); ++block) {
    float scale = numerics::halfToFloat(matrix.scales[block]);
    if (!numerics::isFinite(scale)) {
      return Error{tensorAt(tensor) + "block " + std::to_string(block) +
                   ": expected a scale that is finite in f16, found " +
                   std::to_string(scale)};
    }
  }
  return Success{};
}

} // namespace

Expected<WeightFile> WeightFile::open(const std::string &path,
                                      const WeightFileOptions &options) {
  Expected<GgufFile> file = GgufFile::open(path);
  if (!file) {
    return isZooName(path)
               ? Error{path + ": expected a GGUF file, found a shape of the "
                              "zoo, which has no weights"}
               : file.error();
  }
  Expected<WeightFile> result = load(std::move(*file), options);
  if (!result) {
    return Error{path + ": " + result.error().message};
  }
  return result;
}

Expected<WeightFile> WeightFile::parse(std::span<const std::byte> bytes,
                                       const WeightFileOptions &options) {
  Expected<GgufFile> file = GgufFile::parse(bytes);
  if (!file) {
    return file.error();
  }
  return load(std::move(*file), options);
}

Expected<WeightFile> WeightFile::load(GgufFile file,
                                      const WeightFileOptions &options) {
  Expected<ModelConfig> config = readModelConfig(file);
  if (!config) {
    return config.error();
  }
  for (const GgufTensor &tensor : file.tensors()) {
    if (auto data = file.data(tensor); !data) {
      return data.error();
    }
  }
  WeightFile result;
  if (file.find("tokenizer.ggml.model")) {
    Expected<Tokenizer> tokenizer = Tokenizer::fromGguf(file);
    if (!tokenizer) {
      return tokenizer.error();
    }
    result.vocabulary.emplace(std::move(*tokenizer));
  }
  result.modelConfig = std::move(*config);
  result.options = options;
  result.file = std::move(file);
  return result;
}

Expected<QuantizedMatrix> WeightFile::matrix(std::string_view name,
                                             WeightFormat format) const {
  const GgufTensor *tensor = find(name);
  if (!tensor) {
    return Error{"tensor " + quoted(name) +
                 ": expected in the file, found no "
                 "such tensor"};
  }
  // By name: a matrix of one row may be stored with one dimension.
  if (name.ends_with("_norm.weight")) {
    return Error{tensorAt(*tensor) + "expected a matrix, found a vector"};
  }
  Expected<std::span<const std::byte>> data = file.data(*tensor);
  if (!data) {
    return data.error();
  }
  std::optional<WeightFormat> stored = storedFormat(tensor->type);
  bool keep = stored && (*stored == format || !options.requantize);
  QuantizedMatrix result = emptyMatrix(*tensor, keep ? *stored : format);
  if (keep) {
    unpackBlocks(result.format, *data, result.scales, result.codes);
  } else if (Status done = quantizeRows(*tensor, *data, result); !done) {
    return done.error();
  }
  if (Status checked = checkScales(*tensor, result); !checked) {
    return checked.error();
  }
  return result;
}

Expected<std::vector<float>> WeightFile::vector(std::string_view name) const {
  const GgufTensor *tensor = find(name);
  if (!tensor) {
    return Error{"tensor " + quoted(name) +
                 ": expected in the file, found no "
                 "such tensor"};
  }
  Expected<std::span<const std::byte>> data = file.data(*tensor);
  if (!data) {
    return data.error();
  }
  // Rows are whole blocks, so decoding all elements as one row is the same.
  std::vector<float> values(tensor->elements);
  if (Status done = dequantizeRow(tensor->type, *data, values); !done) {
    return Error{tensorAt(*tensor) + done.error().message};
  }
  return values;
}

const GgufTensor *WeightFile::find(std::string_view name) const {
  bool tied = name == kOutput && modelConfig.tiedEmbeddings;
  return file.findTensor(tied ? kEmbedding : name);
}

} // namespace orrery::models
