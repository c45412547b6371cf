// Causal attention as LlmAttention.td has it, in plain loops over
// machine/numerics.h. Needs neither MLIR nor CUDA.
#pragma once

#include "machine/numerics.h"
#include "models/ModelConfig.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace orrery::gpu {

using models::KvFormat;

struct AttentionShape {
  int32_t heads, kvHeads, headDim;
  KvFormat format;
};

class DefinedAttention {
public:
  explicit DefinedAttention(const AttentionShape &shape) : shape(shape) {}

  /// The result's rows [tokens][heads * headDim]; k and v are appended at `at`.
  std::vector<float> attend(const std::vector<float> &q,
                            const std::vector<float> &k,
                            const std::vector<float> &v, int32_t at) {
    append(k, v, at);
    std::vector<float> out;
    const size_t dim = size_t(shape.headDim);
    const size_t width = dim * size_t(shape.heads);
    const int32_t group = shape.heads / shape.kvHeads;
    for (size_t t = 0; t < q.size() / width; ++t) {
      for (int32_t h = 0; h < shape.heads; ++h) {
        const auto row = attendRow(q.data() + t * width + size_t(h) * dim,
                                   h / group, size_t(at) + t + 1);
        out.insert(out.end(), row.begin(), row.end());
      }
    }
    return out;
  }
  /// Appends without attention; what was behind `at` is dropped.
  void append(const std::vector<float> &k, const std::vector<float> &v,
              int32_t at) {
    keys.append(shape, k, at);
    values.append(shape, v, at);
  }

private:
  /// K or V: rows [position][kvHead] of headDim elements. Codes stand as
  /// numbers, beside their row's scale; halves alone.
  struct Cache {
    std::vector<float> elements, scales;

    void append(const AttentionShape &s, const std::vector<float> &x,
                int32_t at) {
      const size_t dim = size_t(s.headDim);
      elements.resize(size_t(at) * size_t(s.kvHeads) * dim);
      scales.resize(size_t(at) * size_t(s.kvHeads));
      std::vector<int8_t> codes(dim);
      for (size_t first = 0; first < x.size(); first += dim) {
        uint16_t scale = 0;
        if (s.format == KvFormat::Q8) {
          (void)numerics::quantizeKvRow(x.data() + first, s.headDim,
                                        codes.data(), &scale);
        } else if (s.format == KvFormat::Q4) {
          (void)numerics::quantizeKvRow4(x.data() + first, s.headDim,
                                         codes.data(), &scale);
        }
        scales.push_back(numerics::halfToFloat(scale));
        for (size_t i = 0; i < dim; ++i) {
          elements.push_back(s.format == KvFormat::F16
                                 ? numerics::roundToHalf(x[first + i])
                                 : float(codes[i]));
        }
      }
    }
  };

  /// An exact accumulator; NaN after an overflow.
  struct Sum {
    int64_t total = 0;
    bool inRange = true;
    void add(int64_t term) { inRange &= numerics::accumulate(total, term); }
    float read() const {
      return inRange && numerics::accumulatorInRange(total)
                 ? numerics::readAccumulator(total)
                 : std::numeric_limits<float>::quiet_NaN();
    }
  };

  bool halves() const { return shape.format == KvFormat::F16; }

  /// Sum of x[i] * y[i * step], i = 0 .. count-1: x in blocks of 32 as a8
  /// against codes, or rounded to f16 against halves.
  float dot(const float *x, const float *y, size_t count, size_t step) const {
    Sum sum;
    for (size_t first = 0; first < count; first += numerics::kBlock) {
      const size_t size = std::min<size_t>(numerics::kBlock, count - first);
      if (halves()) {
        for (size_t i = first; i < first + size; ++i) {
          sum.add(numerics::halfTerm(numerics::roundToHalf(x[i]), y[i * step]));
        }
        continue;
      }
      std::array<int8_t, numerics::kBlock> codes;
      float scale = 0;
      (void)numerics::quantizeA8Block(x + first, int(size), codes.data(),
                                      &scale);
      int32_t products = 0;
      for (size_t i = 0; i < size; ++i) {
        products += int32_t(codes[i]) * int32_t(y[(first + i) * step]);
      }
      sum.add(numerics::blockTerm(products, 1.0f, scale));
    }
    return sum.read();
  }

  std::vector<float> attendRow(const float *q, int32_t kvHead,
                               size_t visible) const {
    const size_t dim = size_t(shape.headDim);
    const size_t heads = size_t(shape.kvHeads);
    const float scale = 1.0f / std::sqrt(float(shape.headDim));
    std::vector<float> p;
    for (size_t u = 0; u < visible; ++u) {
      const size_t row = u * heads + size_t(kvHead);
      const float score = dot(q, keys.elements.data() + row * dim, dim, 1);
      p.push_back((halves() ? score : score * keys.scales[row]) * scale);
    }
    const float most = *std::max_element(p.begin(), p.end());
    Sum sum;
    for (float &x : p) {
      x = numerics::expExact(x - most);
      sum.add(numerics::floatTerm(x));
    }
    const float z = sum.read();
    for (size_t u = 0; u < visible && !halves(); ++u) {
      p[u] *= values.scales[u * heads + size_t(kvHead)];
    }
    std::vector<float> out;
    for (size_t i = 0; i < dim; ++i) {
      const float *column = values.elements.data() + size_t(kvHead) * dim + i;
      out.push_back(dot(p.data(), column, visible, heads * dim) / z);
    }
    return out;
  }

  AttentionShape shape;
  Cache keys, values;
};

} // namespace orrery::gpu
