// Weights in the form the interpreter reads them, converted once.
#pragma once

#include "dialects/llm/Llm.h"
#include "machine/Result.h"
#include "machine/kernels/PackedMatrix.h"
#include "models/WeightSource.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace orrery::llm {

class WeightCache {
public:
  /// `source` must outlive the cache.
  explicit WeightCache(const models::WeightSource &source) : source(source) {}

  /// The matrix `name` [rows, cols] in `format`, valid while the cache lives.
  /// Fails when the source has none, or has another shape, or stores another
  /// quantized format.
  Expected<numerics::PackedView> matrix(const std::string &name,
                                        WeightFormat format, int64_t rows,
                                        int64_t cols);

  /// The vector `name` [size].
  Expected<const std::vector<float> *> vector(const std::string &name,
                                              int64_t size);

private:
  Expected<numerics::PackedMatrix> load(const std::string &name,
                                        WeightFormat format, int64_t rows,
                                        int64_t cols);

  const models::WeightSource &source;
  std::map<std::pair<std::string, WeightFormat>, numerics::PackedMatrix>
      matrices;
  std::map<std::string, std::vector<float>> vectors;
};

} // namespace orrery::llm
