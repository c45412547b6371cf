// Weights of any shape whose values do not matter, made as fast as memory is
// written: for timing. RandomWeights (models/) is for values that do.
#pragma once

#include "models/WeightSource.h"

#include <cstdint>

namespace orrery::gpu {

/// [rows][cols] of noise, scaled so that products with it keep the size of what
/// they are given.
class MadeUpMatrix {
public:
  MadeUpMatrix(int64_t rows, int64_t cols, uint64_t seed)
      : rows(rows), cols(cols), seed(seed) {}

  models::QuantizedMatrix quantized(models::WeightFormat format) const;
  std::vector<float> floats() const;

private:
  int64_t rows, cols;
  uint64_t seed;
};

/// Every tensor of a config; norm weights are 1.
class MadeUpWeights : public models::WeightSource {
public:
  /// `config` must pass verifyConfig.
  explicit MadeUpWeights(models::ModelConfig config);

  const models::ModelConfig &config() const override { return modelConfig; }
  Expected<models::QuantizedMatrix>
  matrix(std::string_view name, models::WeightFormat format) const override;
  Expected<std::vector<float>> vector(std::string_view name) const override;

private:
  Expected<models::TensorShape> find(std::string_view name) const;

  models::ModelConfig modelConfig;
  std::vector<models::TensorShape> tensors;
};

} // namespace orrery::gpu
