#include "gpu-reference/MadeUpWeights.h"

#include "machine/numerics.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace orrery::gpu {

namespace {
/// xorshift64*: one multiplication a word.
class Noise {
public:
  explicit Noise(uint64_t seed) : state(seed * 2 + 1) {}

  uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
  }

private:
  uint64_t state;
};
} // namespace

models::QuantizedMatrix
MadeUpMatrix::quantized(models::WeightFormat format) const {
  const bool four = format == models::WeightFormat::Q4_0;
  models::QuantizedMatrix matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.blocksPerRow = models::blocksPerRow(cols);
  matrix.format = format;
  // Uniform codes have a deviation of about half the greatest.
  const float scale = 1.7f / ((four ? 8.0f : 128.0f) * std::sqrt(float(cols)));
  matrix.scales.assign(size_t(rows * matrix.blocksPerRow),
                       numerics::floatToHalf(scale));
  const int64_t stride = matrix.blocksPerRow * numerics::kBlock;
  matrix.codes.assign(size_t(rows * stride), 0);
  Noise noise(seed);
  for (int64_t row = 0; row < rows; ++row) {
    int8_t *codes = matrix.codes.data() + row * stride;
    for (int64_t col = 0; col < cols; col += 8) {
      uint64_t word = noise.next();
      for (int64_t i = col; i < std::min(col + 8, cols); ++i, word >>= 8) {
        codes[i] = four ? int8_t(int(word & 15) - 8) : int8_t(word & 255);
      }
    }
  }
  return matrix;
}

std::vector<float> MadeUpMatrix::floats() const {
  std::vector<float> values(size_t(rows * cols));
  const float scale = 1.7f / (128.0f * std::sqrt(float(cols)));
  Noise noise(seed);
  for (float &value : values) {
    value = float(int8_t(noise.next() >> 32)) * scale;
  }
  return values;
}

MadeUpWeights::MadeUpWeights(models::ModelConfig config)
    : modelConfig(std::move(config)),
      tensors(models::expectedTensors(modelConfig)) {}

Expected<models::TensorShape> MadeUpWeights::find(std::string_view name) const {
  for (const models::TensorShape &tensor : tensors) {
    if (tensor.name == name ||
        (modelConfig.tiedEmbeddings && name == "output.weight" &&
         tensor.name == "token_embd.weight")) {
      return tensor;
    }
  }
  return Error{"no tensor is called " + std::string(name)};
}

static uint64_t seedOf(std::string_view name) {
  return std::hash<std::string_view>()(name);
}

Expected<models::QuantizedMatrix>
MadeUpWeights::matrix(std::string_view name,
                      models::WeightFormat format) const {
  const Expected<models::TensorShape> tensor = find(name);
  if (!tensor) {
    return tensor.error();
  }
  if (tensor->isVector) {
    return Error{std::string(name) + ": expected a matrix, found a vector"};
  }
  return MadeUpMatrix(tensor->rows, tensor->cols, seedOf(name))
      .quantized(format);
}

Expected<std::vector<float>>
MadeUpWeights::vector(std::string_view name) const {
  const Expected<models::TensorShape> tensor = find(name);
  if (!tensor) {
    return tensor.error();
  }
  if (tensor->isVector) {
    return std::vector<float>(size_t(tensor->cols), 1.0f);
  }
  return MadeUpMatrix(tensor->rows, tensor->cols, seedOf(name)).floats();
}

} // namespace orrery::gpu
