#include "runtime/EmbeddingTable.h"

#include "machine/numerics.h"

#include <algorithm>

namespace orrery::runtime {

Expected<EmbeddingTable>
EmbeddingTable::open(const models::WeightSource &weights,
                     llm::WeightFormat format) {
  const char *name = "token_embd.weight";
  EmbeddingTable table;
  table.vocab = weights.config().vocab;
  table.hidden = weights.config().hidden;
  if (format == llm::WeightFormat::F16) {
    auto values = weights.vector(name);
    if (!values) {
      return values.error();
    }
    table.halves = std::move(*values);
    std::ranges::transform(table.halves, table.halves.begin(),
                           numerics::roundToHalf);
    return table;
  }
  auto matrix = weights.matrix(name, format == llm::WeightFormat::Q4_0
                                         ? models::WeightFormat::Q4_0
                                         : models::WeightFormat::Q8_0);
  if (!matrix) {
    return matrix.error();
  }
  table.quantized = std::move(*matrix);
  return table;
}

std::vector<float> EmbeddingTable::row(int32_t id) const {
  if (halves.empty()) {
    return quantized.dequantizedRow(id);
  }
  auto first = halves.begin() + std::ptrdiff_t(id * hidden);
  return {first, first + std::ptrdiff_t(hidden)};
}

} // namespace orrery::runtime
