// The row operations that need vectors to be fast: the exponential family,
// the exact sum and the activation quantizer. Where the instruction set has no
// fused multiply-add the exponential is the scalar definition, element by
// element.

#include "machine/kernels/Rows.h"

#include "machine/kernels/GemvChunk.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "machine/kernels/RowsSimd.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "machine/kernels/ExactTerm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace orrery::numerics {
namespace HWY_NAMESPACE {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

//===-- Exponential family ------------------------------------------------===//

#if HWY_NATIVE_FMA

HWY_INLINE V expVector(V x) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V low = hn::Set(d, kExpMin);
  const V high = hn::Set(d, kExpMax);
  // Outside the range (and for NaN) any argument will do: it is replaced below.
  const V safe = hn::Min(hn::Max(x, low), high);
  const V n = hn::Round(hn::Mul(safe, hn::Set(d, kLog2E)));
  V r = hn::MulAdd(n, hn::Set(d, -kLn2Hi), safe);
  r = hn::MulAdd(n, hn::Set(d, -kLn2Lo), r);
  V p = hn::Set(d, kExpC6);
  p = hn::MulAdd(p, r, hn::Set(d, kExpC5));
  p = hn::MulAdd(p, r, hn::Set(d, kExpC4));
  p = hn::MulAdd(p, r, hn::Set(d, kExpC3));
  p = hn::MulAdd(p, r, hn::Set(d, kExpC2));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  const auto power =
      hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  V y = hn::Mul(p, hn::BitCast(d, power));
  y = hn::IfThenElse(hn::Lt(x, low), hn::Zero(d), y);
  y = hn::IfThenElse(hn::Gt(x, high), hn::BitCast(d, hn::Set(di, 0x7f800000)),
                     y);
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

HWY_INLINE V siluVector(V x) {
  const V one = hn::Set(D(), 1.0f);
  return hn::Div(x, hn::Add(one, expVector(hn::Neg(x))));
}

HWY_INLINE V tanhVector(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V a = hn::Abs(x);
  const V z = hn::Mul(a, a);
  V p = hn::Set(d, -5.70498872745e-3f);
  for (float c : {2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f,
                  -3.33332819422e-1f}) {
    p = hn::Add(hn::Mul(p, z), hn::Set(d, c));
  }
  const V small = hn::Add(hn::Mul(hn::Mul(p, z), a), a);
  const V e = expVector(hn::Add(a, a));
  const V large = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one)));
  const V t = hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.625f)), small, large);
  return hn::Or(t, hn::And(x, hn::SignBit(d)));
}

HWY_INLINE V geluVector(V x) {
  const D d;
  const V cubic = hn::Mul(hn::Mul(hn::Set(d, 0.044715f), hn::Mul(x, x)), x);
  const V inner = hn::Mul(hn::Set(d, 0.797884560802865f), hn::Add(x, cubic));
  return hn::Mul(hn::Mul(hn::Set(d, 0.5f), x),
                 hn::Add(hn::Set(d, 1.0f), tanhVector(inner)));
}

void expRowImpl(const float *x, float shift, float *y, int64_t n) {
  const D d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const V shifts = hn::Set(d, shift);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(expVector(hn::Sub(hn::LoadU(d, x + i), shifts)), d, y + i);
  }
  for (; i < n; ++i) {
    y[i] = expExact(x[i] - shift);
  }
}

void siluMulImpl(const float *g, const float *u, float *y, int64_t n) {
  const D d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V gate = siluVector(hn::LoadU(d, g + i));
    hn::StoreU(hn::Mul(gate, hn::LoadU(d, u + i)), d, y + i);
  }
  for (; i < n; ++i) {
    y[i] = silu(g[i]) * u[i];
  }
}

void geluMulImpl(const float *g, const float *u, float *y, int64_t n) {
  const D d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V gate = geluVector(hn::LoadU(d, g + i));
    hn::StoreU(hn::Mul(gate, hn::LoadU(d, u + i)), d, y + i);
  }
  for (; i < n; ++i) {
    y[i] = gelu(g[i]) * u[i];
  }
}

#else // no fused multiply-add

void expRowImpl(const float *x, float shift, float *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = expExact(x[i] - shift);
  }
}

void siluMulImpl(const float *g, const float *u, float *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = silu(g[i]) * u[i];
  }
}

void geluMulImpl(const float *g, const float *u, float *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = gelu(g[i]) * u[i];
  }
}

#endif

//===-- Exact sum ---------------------------------------------------------===//

/// Sum of the terms of whole vectors; false if one is too large for ExactSum.
bool sumVectors(const float *x, int64_t n, int64_t &total) {
  const DF df;
  ExactSum sum;
  for (int64_t i = 0; i < n; i += kLanes) {
    sum.add(hn::LoadU(df, x + i));
  }
  int64_t sums[kLanes];
  int32_t worst[kLanes];
  sum.store(n / kLanes, sums, worst);
  int32_t greatest = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    total = wrappingAdd(total, sums[lane]);
    greatest = std::max(greatest, worst[lane]);
  }
  return greatest < kFastTermBits;
}

/// At most 2048 elements, so that the vector sums cannot wrap.
bool sumExactImpl(const float *x, int64_t n, int64_t &acc) {
  const int64_t whole = n / kLanes * kLanes;
  int64_t total = 0;
  const bool fast = sumVectors(x, whole, total);
  bool inRange = !fast || accumulate(acc, total);
  for (int64_t i = fast ? whole : 0; i < n; ++i) {
    inRange &= accumulate(acc, floatTerm(x[i]));
  }
  return inRange;
}

//===-- Activation quantizer ----------------------------------------------===//

/// A whole block of 32. Integer maximum of the magnitude bits: order-free, and
/// NaN and infinity come out greatest.
bool quantizeBlockImpl(const float *x, int8_t *q, float *d) {
  const hn::CappedTag<float, 16> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<int8_t, decltype(df)> d8;
  const int lanes = int(hn::Lanes(df));
  auto greatest = hn::Zero(di);
  for (int i = 0; i < kBlock; i += lanes) {
    greatest =
        hn::Max(greatest, hn::BitCast(di, hn::Abs(hn::LoadU(df, x + i))));
  }
  const float amax =
      bitsToFloat(uint32_t(hn::GetLane(hn::MaxOfLanes(di, greatest))));
  const float id = 127.0f / amax;
  if (amax == 0.0f || !isFinite(id) || !isFinite(amax)) {
    return quantizeA8Block(x, kBlock, q, d);
  }
  *d = amax / 127.0f;
  const auto ids = hn::Set(df, id);
  for (int i = 0; i < kBlock; i += lanes) {
    // |x * id| <= 127 (1 + 2^-23), so rounding cannot leave the code range.
    const auto codes = hn::NearestInt(hn::Mul(hn::LoadU(df, x + i), ids));
    hn::StoreU(hn::DemoteTo(d8, codes), d8, q + i);
  }
  return true;
}

} // namespace HWY_NAMESPACE
} // namespace orrery::numerics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace orrery::numerics {
namespace {

HWY_EXPORT(expRowImpl);
HWY_EXPORT(siluMulImpl);
HWY_EXPORT(geluMulImpl);
HWY_EXPORT(sumExactImpl);
HWY_EXPORT(quantizeBlockImpl);

} // namespace

void expRow(const float *x, float shift, float *y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(expRowImpl)(x, shift, y, n);
}

void siluMulRow(const float *g, const float *u, float *y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(siluMulImpl)(g, u, y, n);
}

void geluMulRow(const float *g, const float *u, float *y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(geluMulImpl)(g, u, y, n);
}

bool sumExact(const float *x, int64_t n, int64_t &acc) {
  constexpr int64_t kChunk = 2048;
  const auto chunk = HWY_DYNAMIC_DISPATCH(sumExactImpl);
  bool inRange = true;
  for (int64_t i = 0; i < n; i += kChunk) {
    inRange &= chunk(x + i, std::min(kChunk, n - i), acc);
  }
  return inRange;
}

bool quantizeA8Row(const float *x, int64_t n, int8_t *codes, float *scales) {
  const auto block = HWY_DYNAMIC_DISPATCH(quantizeBlockImpl);
  bool finite = true;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int count = int(std::min<int64_t>(kBlock, n - i));
    float *scale = scales + i / kBlock;
    finite &= count == kBlock ? block(x + i, codes + i, scale)
                              : quantizeA8Block(x + i, count, codes + i, scale);
  }
  return finite;
}

} // namespace orrery::numerics
#endif // HWY_ONCE
