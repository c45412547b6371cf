#include "machine/kernels/Gemv.h"

#include "machine/numerics.h"

#include <algorithm>
#include <cassert>

namespace orrery::numerics {

bool accumulateBlocks(const PackedView &m, const A8View &x, int64_t row,
                      int64_t t, int64_t first, int64_t last, int64_t &acc) {
  bool inRange = true;
  for (int64_t b = first; b < last; ++b) {
    const int64_t begin = b * m.block;
    const int64_t end = std::min(begin + m.block, m.k);
    int32_t isum = 0;
    int32_t xsum = 0;
    for (int64_t i = begin; i < end; ++i) {
      const int32_t q = x.codes[t * x.codeStride + i];
      isum += m.code(row, i) * q;
      xsum += q;
    }
    const float dx = x.scales[t * x.scaleStride + begin / kBlock];
    inRange &= accumulate(acc, blockTerm(isum, m.scale(row, b), dx));
    if (m.mins != nullptr) {
      inRange &= accumulate(acc, minTerm(xsum, m.min(row, b), dx));
    }
  }
  return inRange;
}

bool gemvScalar(const PackedView &m, const A8View &x, int64_t *acc,
                int64_t accStride) {
  assert(m.k == x.k && m.format != PackedFormat::Half);
  bool inRange = true;
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t row = 0; row < m.rows; ++row) {
      inRange &= accumulateBlocks(m, x, row, t, 0, m.blocks(),
                                  acc[t * accStride + row]);
    }
  }
  return inRange;
}

bool accumulateHalves(const PackedView &m, const FloatView &x, int64_t row,
                      int64_t t, int64_t first, int64_t last, int64_t &acc) {
  bool inRange = true;
  for (int64_t i = first; i < last; ++i) {
    const float a = halfToFloat(m.half(row, i));
    inRange &= accumulate(acc, halfTerm(a, x.values[t * x.stride + i]));
  }
  return inRange;
}

bool gemvHalfScalar(const PackedView &m, const FloatView &x, int64_t *acc,
                    int64_t accStride) {
  assert(m.k == x.k && m.format == PackedFormat::Half);
  bool inRange = true;
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t row = 0; row < m.rows; ++row) {
      inRange &=
          accumulateHalves(m, x, row, t, 0, m.k, acc[t * accStride + row]);
    }
  }
  return inRange;
}

bool readAccumulators(const int64_t *acc, int64_t n, float *y) {
  bool inRange = true;
  for (int64_t i = 0; i < n; ++i) {
    y[i] = readAccumulator(acc[i]);
    inRange &= accumulatorInRange(acc[i]);
  }
  return inRange;
}

} // namespace orrery::numerics
