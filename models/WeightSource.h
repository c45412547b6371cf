// Weights by name, wherever they come from.
//
// The interface through which interpreter, compiler, simulator and kernels get
// weights: WeightFile (Weights.h) reads them from a model file, RandomWeights
// (RandomWeights.h) makes them up. Names are GGUF tensor names.
#pragma once

#include "machine/Result.h"
#include "models/ModelConfig.h"
#include "models/Quantize.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace orrery::models {

/// A weight matrix in blocks of 32 along each row; element (r, c) is
/// scale(r, c / 32) · code(r, c). Columns from `cols` to the end of the last
/// block are padding with code 0.
struct QuantizedMatrix {
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t blocksPerRow = 0;
  WeightFormat format = WeightFormat::Q8_0;
  /// f16 bits, row-major [rows][blocksPerRow].
  std::vector<uint16_t> scales;
  /// Signed codes, row-major [rows][32 · blocksPerRow]; -8..7 for Q4_0.
  std::vector<int8_t> codes;

  /// The values of row `row` without padding: [cols] f32.
  std::vector<float> dequantizedRow(int64_t row) const;

  bool operator==(const QuantizedMatrix &) const = default;
};

class WeightSource {
public:
  virtual ~WeightSource() = default;

  virtual const ModelConfig &config() const = 0;

  /// The matrix `name`; float tensors are quantized to `format`. A tensor that
  /// is stored quantized keeps its own format, so look at the result's. For a
  /// tied model "output.weight" is the token embedding. Fails for an unknown
  /// name, a vector, or a type that cannot be loaded.
  virtual Expected<QuantizedMatrix> matrix(std::string_view name,
                                           WeightFormat format) const = 0;

  /// The values of tensor `name`, vector or matrix, as f32 row-major
  /// [rows, cols], before any quantization to another format.
  virtual Expected<std::vector<float>> vector(std::string_view name) const = 0;
};

} // namespace orrery::models
