// Made-up weights of any shape.
//
// Deterministic weights for property tests and benchmarks: the same config,
// seed and name give the same values on every machine, in any order of asking.
// The values are scaled so that activations stay of order one.
#pragma once

#include "models/WeightSource.h"

#include <cstdint>

namespace orrery::models {

class RandomWeights : public WeightSource {
public:
  /// `config` must pass verifyConfig.
  RandomWeights(ModelConfig config, uint64_t seed);

  const ModelConfig &config() const override { return modelConfig; }
  Expected<QuantizedMatrix> matrix(std::string_view name,
                                   WeightFormat format) const override;
  Expected<std::vector<float>> vector(std::string_view name) const override;

private:
  ModelConfig modelConfig;
  uint64_t seed;
};

} // namespace orrery::models
