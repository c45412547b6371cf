#include "machine/kernels/Rows.h"

namespace orrery::numerics {

namespace {

bool allFinite(const float *x, int64_t n) {
  bool finite = true;
  for (int64_t i = 0; i < n; ++i) {
    finite &= isFinite(x[i]);
  }
  return finite;
}

} // namespace

float maxRow(const float *x, int64_t n) {
  float best = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] != x[i]) {
      return x[i];
    }
    best = x[i] > best ? x[i] : best;
  }
  return best + 0.0f; // -0 becomes +0, so the order of zeros does not show
}

WideAccumulator sumWide(const float *x, int64_t n) {
  WideAccumulator sum;
  for (int64_t i = 0; i < n; ++i) {
    sum.add(x[i]);
  }
  return sum;
}

WideAccumulator sumSquares(const float *x, int64_t n) {
  WideAccumulator sum;
  for (int64_t i = 0; i < n; ++i) {
    sum.add(x[i] * x[i]);
  }
  return sum;
}

bool roundRowToHalf(const float *x, float *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = roundToHalf(x[i]);
  }
  return allFinite(y, n);
}

bool rmsNormRow(const float *x, const float *w, float *y, int64_t n,
                float eps) {
  const float r = inverseNorm(sumSquares(x, n).read(), n, eps);
  for (int64_t i = 0; i < n; ++i) {
    y[i] = (x[i] * r) * w[i];
  }
  return allFinite(y, n);
}

bool layerNormRow(const float *x, const float *w, const float *b, float *y,
                  int64_t n, float eps) {
  const float mean = sumWide(x, n).read() / float(n);
  WideAccumulator squares;
  for (int64_t i = 0; i < n; ++i) {
    const float centred = x[i] - mean;
    squares.add(centred * centred);
  }
  const float r = inverseNorm(squares.read(), n, eps);
  for (int64_t i = 0; i < n; ++i) {
    const float scaled = ((x[i] - mean) * r) * w[i];
    y[i] = b != nullptr ? scaled + b[i] : scaled;
  }
  return allFinite(y, n);
}

bool softmaxRow(const float *s, float *p, int64_t n, int64_t &z) {
  const float m = maxRow(s, n);
  if (!isFinite(m)) {
    return false;
  }
  expRow(s, m, p, n);
  return sumExact(p, n, z);
}

void ropeRow(float *x, int rotaryDim, const float *cos, const float *sin,
             RopePairs pairs) {
  const int half = rotaryDim / 2;
  for (int i = 0; i < half; ++i) {
    if (pairs == RopePairs::Interleaved) {
      ropePair(x[2 * i], x[2 * i + 1], cos[i], sin[i]);
    } else {
      ropePair(x[i], x[i + half], cos[i], sin[i]);
    }
  }
}

} // namespace orrery::numerics
