#include "models/RandomWeights.h"

#include "models/QuotedText.h"

#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace orrery::models {

namespace {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the output for state `state`.
uint64_t mix(uint64_t state) {
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return state ^ (state >> 31);
}

constexpr uint64_t kGamma = 0x9E3779B97F4A7C15u;

/// One stream of numbers for each seed and name.
class Stream {
public:
  Stream(uint64_t seed, std::string_view name) : state(mix(seed + kGamma)) {
    for (char character : name) {
      state = mix((state ^ static_cast<unsigned char>(character)) + kGamma);
    }
  }

  /// Uniform in [-1, 1), a multiple of 2^-23.
  float next() {
    state += kGamma;
    return static_cast<float>(mix(state) >> 40) * 0x1p-23f - 1.0f;
  }

private:
  uint64_t state;
};

std::optional<TensorShape> findShape(const ModelConfig &config,
                                     std::string_view name) {
  if (name == "output.weight" && config.tiedEmbeddings) {
    name = "token_embd.weight";
  }
  for (TensorShape &shape : expectedTensors(config)) {
    if (shape.name == name) {
      return std::move(shape);
    }
  }
  return std::nullopt;
}

Error noSuchTensor(std::string_view name, std::string_view expected) {
  return Error{"tensor " + quoted(name) + ": expected " +
               std::string(expected) + " of the model, found none so named"};
}

/// Matrix rows with variance 1 / cols; norms around one.
void fillRow(const TensorShape &shape, Stream &stream, std::span<float> row) {
  float scale = std::sqrt(3.0f / static_cast<float>(shape.cols));
  for (float &value : row) {
    value =
        shape.isVector ? 1.0f + 0.125f * stream.next() : scale * stream.next();
  }
}

} // namespace

RandomWeights::RandomWeights(ModelConfig config, uint64_t seed)
    : modelConfig(std::move(config)), seed(seed) {}

Expected<QuantizedMatrix> RandomWeights::matrix(std::string_view name,
                                                WeightFormat format) const {
  std::optional<TensorShape> shape = findShape(modelConfig, name);
  if (!shape || shape->isVector) {
    return noSuchTensor(name, "a matrix");
  }
  QuantizedMatrix result;
  result.rows = shape->rows;
  result.cols = shape->cols;
  result.blocksPerRow = blocksPerRow(shape->cols);
  result.format = format;
  auto rowBlocks = static_cast<size_t>(result.blocksPerRow);
  result.scales.resize(static_cast<size_t>(shape->rows) * rowBlocks);
  result.codes.resize(result.scales.size() * kQuantBlock);
  Stream stream(seed, shape->name);
  std::vector<float> row(static_cast<size_t>(shape->cols));
  for (size_t index = 0; index < static_cast<size_t>(shape->rows); ++index) {
    fillRow(*shape, stream, row);
    quantizeRow(
        format, row,
        std::span(result.scales).subspan(index * rowBlocks, rowBlocks),
        std::span(result.codes)
            .subspan(index * rowBlocks * kQuantBlock, rowBlocks * kQuantBlock));
  }
  return result;
}

Expected<std::vector<float>>
RandomWeights::vector(std::string_view name) const {
  std::optional<TensorShape> shape = findShape(modelConfig, name);
  if (!shape) {
    return noSuchTensor(name, "a tensor");
  }
  std::vector<float> values(static_cast<size_t>(shape->rows * shape->cols));
  Stream stream(seed, shape->name);
  fillRow(*shape, stream, values);
  return values;
}

} // namespace orrery::models
