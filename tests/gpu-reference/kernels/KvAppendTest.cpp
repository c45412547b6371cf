// Rows in the pages of the KV cache, byte for byte against the definitions of
// machine/numerics.h, and nothing else written.
#include "gpu-reference/kernels/KvAppend.h"

#include "tests/gpu-reference/kernels/PagedCache.h"

#include <cmath>

namespace orrery::gpu::ORRERY_GPU {
namespace {

using models::KvFormat;

/// Writes what kvAppend should into a copy of the pool.
class Expectation {
public:
  Expectation(const PagedCache &cache, std::vector<uint8_t> pool)
      : cache(cache), pool(std::move(pool)) {}

  void append(int32_t layer, int32_t at, const std::vector<float> &k,
              const std::vector<float> &v) {
    const KvLayout &l = cache.layout;
    const int32_t heads = l.kvHeads;
    const auto rows = int32_t(k.size()) / l.headDim;
    for (int32_t row = 0; row < rows; ++row) {
      const float *x = k.data() + row * l.headDim;
      const float *y = v.data() + row * l.headDim;
      appendRow(layer, row % heads, at + row / heads, x, true);
      appendRow(layer, row % heads, at + row / heads, y, false);
    }
  }

  const PagedCache &cache;
  std::vector<uint8_t> pool;

private:
  void appendRow(int32_t layer, int32_t head, int32_t at, const float *x,
                 bool key) {
    const KvLayout &l = cache.layout;
    const int32_t inPage = at % l.pagePositions;
    uint8_t *part = pool.data() + cache.partOf(layer, head, at);
    std::vector<int8_t> codes(size_t(l.headDim));
    uint16_t scale = 0;
    if (l.format == KvFormat::Q8) {
      (void)numerics::quantizeKvRow(x, l.headDim, codes.data(), &scale);
    } else if (l.format == KvFormat::Q4) {
      (void)numerics::quantizeKvRow4(x, l.headDim, codes.data(), &scale);
    }
    if (l.hasScales()) {
      uint8_t *place =
          part + (key ? l.keyScaleOffset(inPage) : l.valueScaleOffset(inPage));
      place[0] = uint8_t(scale);
      place[1] = uint8_t(scale >> 8);
    }
    const int32_t padded = key ? (l.headDim + 7) / 8 * 8 : l.headDim;
    for (int32_t i = 0; i < padded; ++i) {
      const bool inside = i < l.headDim;
      const int code = inside ? codes[size_t(i)] : 0;
      const int32_t index = key ? i : inPage % 32;
      uint8_t *place =
          part + (key ? l.keyOffset(inPage) : l.valueOffset(inPage / 32, i));
      put(place, index, code, inside ? x[i] : 0.0f);
    }
  }

  void put(uint8_t *place, int32_t index, int code, float x) const {
    switch (cache.layout.format) {
    case KvFormat::F16: {
      const uint16_t half = numerics::floatToHalf(x);
      place[2 * index] = uint8_t(half);
      place[2 * index + 1] = uint8_t(half >> 8);
      break;
    }
    case KvFormat::Q8:
      place[index] = uint8_t(code);
      break;
    case KvFormat::Q4: {
      uint8_t &byte = place[index / 8 * 4 + index % 4];
      const bool high = index % 8 >= 4;
      byte = high ? uint8_t((byte & 0x0f) | (code + 8) << 4)
                  : uint8_t((byte & 0xf0) | (code + 8));
      break;
    }
    }
  }
};

struct Case {
  KvFormat format;
  int32_t kvHeads, headDim, pagePositions;
};

class KvAppend : public testing::TestWithParam<Case> {};

TEST_P(KvAppend, WritesRowsAndNothingElse) {
  const Case c = GetParam();
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderScope scope(seed);
    std::mt19937 random(seed);
    const KvLayout layout{2, c.kvHeads, c.headDim, c.format, c.pagePositions};
    PagedCache cache(layout, 200, random);
    Expectation expected(cache, must(cache.pool.read()));
    for (int32_t at = int32_t(random() % 40); at < 120;) {
      const auto tokens = int32_t(1 + random() % (random() % 3 ? 5 : 75));
      const auto layer = int32_t(random() % 2);
      const size_t count = size_t(tokens * c.kvHeads * c.headDim);
      const std::vector<float> k = randomValues(count, random);
      const std::vector<float> v = randomValues(count, random);
      cache.append(layer, at, k, v);
      expected.append(layer, at, k, v);
      ASSERT_EQ(must(cache.pool.read()), expected.pool)
          << tokens << " tokens at " << at;
      at += random() % 3 ? tokens : -int32_t(random() % uint32_t(at + 1));
      at += int32_t(random() % 4);
    }
  }
}

// Zeros, values that vanish under the scale, that overflow it, infinity, NaN.
TEST_P(KvAppend, RowsOfSpecialValues) {
  const Case c = GetParam();
  std::mt19937 random(7);
  const KvLayout layout{2, c.kvHeads, c.headDim, c.format, c.pagePositions};
  PagedCache cache(layout, 64, random);
  Expectation expected(cache, must(cache.pool.read()));
  const size_t count = size_t(c.kvHeads * c.headDim);
  const float inf = INFINITY;
  for (float special :
       {0.0f, -0.0f, 1e-8f, 4.1e-7f, 9e-6f, 1e9f, 6e4f, -inf, 0x1p-149f}) {
    std::vector<float> k(count, special), v(count, -special);
    k[0] = special / 2;
    cache.append(1, 3, k, v);
    expected.append(1, 3, k, v);
    ASSERT_EQ(must(cache.pool.read()), expected.pool) << special;
  }
  // A NaN's payload is nobody's promise: only that it stays one.
  const std::vector<float> nans(count, NAN);
  cache.append(1, 3, nans, nans);
  const std::vector<uint8_t> pool = must(cache.pool.read());
  const int64_t place =
      cache.partOf(1, 0, 3) +
      (layout.hasScales() ? layout.keyScaleOffset(3) : layout.keyOffset(3));
  const auto half =
      uint16_t(pool[size_t(place)] | pool[size_t(place) + 1] << 8);
  EXPECT_TRUE(std::isnan(numerics::halfToFloat(half)));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, KvAppend,
    testing::Values(
        Case{KvFormat::Q8, 2, 32, 32}, Case{KvFormat::Q8, 1, 40, 64},
        Case{KvFormat::Q8, 3, 100, 32}, Case{KvFormat::Q8, 1, 1, 32},
        Case{KvFormat::Q8, 1, 256, 96}, Case{KvFormat::Q4, 2, 32, 32},
        Case{KvFormat::Q4, 1, 24, 64}, Case{KvFormat::Q4, 3, 100, 32},
        Case{KvFormat::Q4, 1, 1, 32}, Case{KvFormat::Q4, 2, 96, 64},
        Case{KvFormat::F16, 2, 32, 32}, Case{KvFormat::F16, 1, 40, 64},
        Case{KvFormat::F16, 2, 7, 32}, Case{KvFormat::F16, 1, 80, 128}));

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
