// The shipped model with something planted in it, for tests that must find it.
#pragma once

#include "machine/numerics.h"
#include "tests/runtime/TinySession.h"

namespace orrery::runtime {

/// The shipped model with one tensor, or its config, changed a little.
class ChangedModel : public models::WeightSource {
public:
  const models::ModelConfig &config() const override { return modelConfig; }

  Expected<models::QuantizedMatrix>
  matrix(std::string_view name, models::WeightFormat format) const override {
    auto matrix = tinyModel().matrix(name, format);
    if (matrix && name == tensor) {
      // Less would be lost when activations are quantized.
      matrix->scales[0] ^= 0x200;
    }
    return matrix;
  }
  Expected<std::vector<float>> vector(std::string_view name) const override {
    auto values = tinyModel().vector(name);
    if (values && name == tensor) {
      uint32_t bits = numerics::floatToBits(values->front()) ^ 0x400000;
      values->front() = numerics::bitsToFloat(bits);
    }
    return values;
  }

  std::string tensor;
  models::ModelConfig modelConfig = tinyModel().config();
};

} // namespace orrery::runtime
