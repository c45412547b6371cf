#include "models/WeightSource.h"

#include "machine/numerics.h"

#include <cassert>

namespace orrery::models {

std::vector<float> QuantizedMatrix::dequantizedRow(int64_t row) const {
  assert(row >= 0 && row < rows && "row of the matrix");
  const uint16_t *rowScales = scales.data() + row * blocksPerRow;
  const int8_t *rowCodes = codes.data() + row * blocksPerRow * kQuantBlock;
  std::vector<float> values(static_cast<size_t>(cols));
  for (int64_t col = 0; col < cols; ++col) {
    values[static_cast<size_t>(col)] =
        static_cast<float>(rowCodes[col]) *
        numerics::halfToFloat(rowScales[col / kQuantBlock]);
  }
  return values;
}

} // namespace orrery::models
