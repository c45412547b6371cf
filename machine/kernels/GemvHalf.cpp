// f16 matrix kernel: every product is a term of its own, so the rounding to the
// accumulator's step dominates, not the multiplication.

#include "machine/kernels/Gemv.h"

#include "machine/kernels/GemvChunk.h"
#include "machine/numerics.h"

#include <algorithm>
#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "machine/kernels/GemvHalf.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "machine/kernels/ExactTerm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace orrery::numerics {
namespace HWY_NAMESPACE {

template <int kRows> HWY_INLINE void runHalves(HalfChunk &c) {
  const DF df;
  for (int lane = 0; lane < kGroupRows; lane += kLanes) {
    ExactSum sum[kRows];
    for (int64_t i = 0; i < c.elements; ++i) {
      const VF w = loadHalves(c.values + i * kGroupRows + lane);
      for (int t = 0; t < kRows; ++t) {
        sum[t].add(hn::Mul(w, hn::Set(df, c.x[t][i])));
      }
    }
    for (int t = 0; t < kRows; ++t) {
      sum[t].store(c.elements, c.sum[t] + lane, c.worst[t] + lane);
    }
  }
}

void halfChunk(HalfChunk &c) {
  switch (c.rows) {
  case 1:
    return runHalves<1>(c);
  case 2:
    return runHalves<2>(c);
  default:
    return runHalves<4>(c);
  }
}

} // namespace HWY_NAMESPACE
} // namespace orrery::numerics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace orrery::numerics {
namespace {

HWY_EXPORT(halfChunk);

/// 2048 terms below 2^51 stay inside an int64.
constexpr int64_t kChunkElements = 2048;

} // namespace

bool gemvHalf(const PackedView &m, const FloatView &x, int64_t *acc,
              int64_t accStride) {
  assert(m.k == x.k && m.format == PackedFormat::Half);
  const auto kernel = HWY_DYNAMIC_DISPATCH(halfChunk);
  bool inRange = true;
  for (int64_t group = 0; group < m.groups(); ++group) {
    const int64_t row0 = group * kGroupRows;
    for (int64_t first = 0; first < m.k; first += kChunkElements) {
      for (int64_t t = 0; t < x.rows;) {
        HalfChunk c;
        c.rows = x.rows - t >= 4 ? 4 : x.rows - t >= 2 ? 2 : 1;
        c.elements = std::min(kChunkElements, m.k - first);
        c.values =
            reinterpret_cast<const uint16_t *>(m.codes + group * m.groupBytes) +
            first * kGroupRows;
        for (int i = 0; i < c.rows; ++i) {
          c.x[i] = x.values + (t + i) * x.stride + first;
        }
        kernel(c);
        inRange &=
            c.addTo(acc + t * accStride + row0, accStride,
                    std::min<int64_t>(kGroupRows, m.rows - row0),
                    [&](int i, int64_t lane, int64_t &sum) {
                      return accumulateHalves(m, x, row0 + lane, t + i, first,
                                              first + c.elements, sum);
                    });
        t += c.rows;
      }
    }
  }
  return inRange;
}

} // namespace orrery::numerics
#endif // HWY_ONCE
