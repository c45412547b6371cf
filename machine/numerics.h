// The arithmetic every backend shares: number formats, exponentials, exact
// accumulators, activation quantization, sampling randomness. Interpreter,
// simulator, host kernels and CUDA kernels call these definitions or are tested
// bit for bit against them. Not here: anything about tensors, layouts or speed.
//
// Assumes the default rounding mode (FE_TONEAREST) and subnormals kept; nothing
// here changes either. Compile with -ffp-contract=off (--fmad=false): a fused
// multiply-add appears only where `fmaf` is written.

#ifndef ORRERY_MACHINE_NUMERICS_H
#define ORRERY_MACHINE_NUMERICS_H

#include <array>
#include <cstdint>
#include <limits>
#include <math.h> // fmaf, rint...: the global names exist in CUDA device code
#include <vector>

#ifdef __CUDACC__
#define ORRERY_HD __host__ __device__
#else
#define ORRERY_HD
#endif

namespace orrery::numerics {

/// Elements along the reduced dimension that share one scale.
inline constexpr int kBlock = 32;

//===-- Bits --------------------------------------------------------------===//

ORRERY_HD inline constexpr float bitsToFloat(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

ORRERY_HD inline constexpr uint32_t floatToBits(float x) {
  return __builtin_bit_cast(uint32_t, x);
}

ORRERY_HD inline constexpr bool isFinite(float x) {
  return (floatToBits(x) & 0x7f800000u) != 0x7f800000u;
}

//===-- 16-bit floats -----------------------------------------------------===//

/// IEEE binary16 to binary32, exact; NaN keeps its payload and becomes quiet.
ORRERY_HD inline constexpr float halfToFloat(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = float(mantissa) * 0x1p-24f;
    return bitsToFloat(sign | floatToBits(magnitude));
  }
  if (exponent == 31) {
    const uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;
    return bitsToFloat(sign | 0x7f800000u | quiet | (mantissa << 13));
  }
  return bitsToFloat(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

/// binary32 to IEEE binary16, nearest even; magnitudes of 65520 and more become
/// infinity, NaN stays (quiet) NaN.
ORRERY_HD inline constexpr uint16_t floatToHalf(float x) {
  const uint32_t bits = floatToBits(x);
  const uint16_t sign = uint16_t((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return uint16_t(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  }
  if (magnitude >= 0x477ff000u) { // 65520: halfway to the missing 65536
    return uint16_t(sign | 0x7c00u);
  }
  // A half subnormal is an integer count of 2^-24: shift the 24-bit
  // significand so that its last bit is worth that much.
  const uint32_t exponent = magnitude >> 23;
  if (exponent < 113) {
    if (exponent < 102) { // below 2^-25: rounds to zero
      return sign;
    }
    const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t shift = 126 - exponent;
    const uint32_t kept = significand >> shift;
    const uint32_t rest = significand & ((1u << shift) - 1);
    const uint32_t half = 1u << (shift - 1);
    const uint32_t up = (rest > half || (rest == half && (kept & 1))) ? 1 : 0;
    return uint16_t(sign | (kept + up));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return uint16_t(sign | ((rounded - 0x38000000u) >> 13));
}

/// The f32 value after a round trip through f16.
ORRERY_HD inline constexpr float roundToHalf(float x) {
  return halfToFloat(floatToHalf(x));
}

/// bfloat16 to binary32, exact.
ORRERY_HD inline constexpr float bfloatToFloat(uint16_t bfloat) {
  return bitsToFloat(uint32_t(bfloat) << 16);
}

//===-- Exponential family (rule 8) ---------------------------------------===//

inline constexpr float kLog2E = 1.44269504088896341f;
/// ln 2 in two steps: 9 bits, so that n * kLn2Hi is exact, and the remainder.
inline constexpr float kLn2Hi = 0.693359375f;
inline constexpr float kLn2Lo = -2.12194440e-4f;
/// exp(r) on |r| <= ln2/2 is 1 + r + r^2 (c2 + c3 r + ... + c6 r^4); relative
/// error 3.2e-9 (minimax fit, coefficients rounded to f32 one after another).
inline constexpr float kExpC2 = 0x1.fffffcp-2f;
inline constexpr float kExpC3 = 0x1.55549p-3f;
inline constexpr float kExpC4 = 0x1.5558a6p-5f;
inline constexpr float kExpC5 = 0x1.123aecp-7f;
inline constexpr float kExpC6 = 0x1.6a5a58p-10f;
inline constexpr float kExpMin = -87.0f;
inline constexpr float kExpMax = 88.0f;

/// e^x within 2 ulp for -87 <= x <= 88; 0 below, +inf above, NaN for NaN.
ORRERY_HD inline float expExact(float x) {
  if (!(x >= kExpMin)) {
    return x < kExpMin ? 0.0f : x;
  }
  if (x > kExpMax) {
    return bitsToFloat(0x7f800000u);
  }
  const float n = ::rintf(x * kLog2E);
  float r = ::fmaf(n, -kLn2Hi, x);
  r = ::fmaf(n, -kLn2Lo, r);
  float p = kExpC6;
  p = ::fmaf(p, r, kExpC5);
  p = ::fmaf(p, r, kExpC4);
  p = ::fmaf(p, r, kExpC3);
  p = ::fmaf(p, r, kExpC2);
  p = ::fmaf(p, r, 1.0f);
  p = ::fmaf(p, r, 1.0f);
  // n is in [-126, 127]: the power is normal and the product exact.
  return p * bitsToFloat(uint32_t(int32_t(n) + 127) << 23);
}

/// 1 / (1 + exp(-x)).
ORRERY_HD inline float sigmoid(float x) { return 1.0f / (1.0f + expExact(-x)); }

/// x / (1 + exp(-x)).
ORRERY_HD inline float silu(float x) { return x / (1.0f + expExact(-x)); }

/// tanh: an odd polynomial below 0.625, where the exponential form cancels
/// (coefficients: Cephes tanhf), else sign(x) * (1 - 2 / (exp(2|x|) + 1)).
ORRERY_HD inline float tanhExact(float x) {
  const float a = bitsToFloat(floatToBits(x) & 0x7fffffffu);
  float t = 0.0f;
  if (a < 0.625f) {
    const float z = a * a;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z + -5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z + -3.33332819422e-1f;
    t = (p * z) * a + a;
  } else {
    t = 1.0f - 2.0f / (expExact(a + a) + 1.0f);
  }
  return bitsToFloat(floatToBits(t) | (floatToBits(x) & 0x80000000u));
}

/// gelu, tanh form: (0.5 x) * (1 + tanh(sqrt(2/pi) * (x + (0.044715 (x x))
/// x))).
ORRERY_HD inline float gelu(float x) {
  const float inner = x + (0.044715f * (x * x)) * x;
  return (0.5f * x) * (1.0f + tanhExact(0.797884560802865f * inner));
}

//===-- Exact accumulator (rule 5) ----------------------------------------===//

/// One unit of value is 2^36 accumulator steps.
inline constexpr int kAccumulatorBits = 36;
inline constexpr double kAccumulatorScale = 0x1p36;
/// What a term of magnitude 2^27 or more (or NaN) becomes; `accumulate` reports
/// both values as overflow. No finite sum in range needs them.
inline constexpr int64_t kTermOverflowHigh =
    std::numeric_limits<int64_t>::max();
inline constexpr int64_t kTermOverflowLow = std::numeric_limits<int64_t>::min();

/// rint(x * 2^36); saturates to kTermOverflowHigh/Low outside (-2^27, 2^27),
/// NaN gives kTermOverflowLow. Used for f32 terms such as softmax weights.
ORRERY_HD inline int64_t floatTerm(float x) {
  const double scaled = double(x) * kAccumulatorScale; // exact
  if (!(scaled < 0x1p63)) {
    return scaled >= 0x1p63 ? kTermOverflowHigh : kTermOverflowLow;
  }
  return scaled <= -0x1p63 ? kTermOverflowLow : int64_t(::rint(scaled));
}

/// Integer block: rint(f32(isum) * (f32(dw) * f32(dx)) * 2^36).
/// isum: int32 dot product of the block's codes; dw, dx: the two scales.
ORRERY_HD inline int64_t blockTerm(int32_t isum, float dw, float dx) {
  const float scale = dw * dx;
  return floatTerm(float(isum) * scale);
}

/// Minimum of a block: rint(f32(xsum) * (f32(m) * f32(dx)) * 2^36), xsum the
/// sum of the block's activation codes.
ORRERY_HD inline int64_t minTerm(int32_t xsum, float m, float dx) {
  return blockTerm(xsum, m, dx);
}

/// Product of two f16-exact values: rint(f32(a * b) * 2^36).
ORRERY_HD inline int64_t halfTerm(float a, float b) { return floatTerm(a * b); }

/// Sum modulo 2^64: the order-free sum itself, without a check.
ORRERY_HD inline constexpr int64_t wrappingAdd(int64_t a, int64_t b) {
  return int64_t(uint64_t(a) + uint64_t(b));
}

/// acc += term; false when the term is a saturated one or the sum left the
/// int64. The value is the wrapped sum either way, so while no call returned
/// false it does not depend on order or grouping. A sum whose intermediate
/// values leave +-2^27 is reported even if it would come back: an int64 cannot
/// show afterwards that it wrapped.
ORRERY_HD inline constexpr bool accumulate(int64_t &acc, int64_t term) {
  const int64_t sum = wrappingAdd(acc, term);
  const bool wrapped = ((acc ^ sum) & (term ^ sum)) < 0;
  acc = sum;
  return !wrapped && term != kTermOverflowHigh && term != kTermOverflowLow;
}

/// True unless `acc` is one of the two saturation values, that is, strictly
/// inside +-2^27. Sums also need the result of `accumulate`.
ORRERY_HD inline constexpr bool accumulatorInRange(int64_t acc) {
  return acc != kTermOverflowHigh && acc != kTermOverflowLow;
}

/// Accumulator to f32: one rounding, nearest even.
ORRERY_HD inline constexpr float readAccumulator(int64_t acc) {
  return float(acc) * 0x1p-36f;
}

//===-- Wide accumulator (rule 6) -----------------------------------------===//

/// Order-free sum of f32 terms: int128, least bit 2^-64, each term rounded once
/// to it. Range +-2^63: a term or sum beyond it (or NaN, inf) sets `saturated`
/// for good, and read() then gives NaN, never a plausible number.
struct WideAccumulator {
  __extension__ typedef __int128 Int128;
  __extension__ typedef unsigned __int128 UInt128;

  Int128 sum = 0;
  bool saturated = false;

  /// Adds rint(x * 2^64).
  ORRERY_HD void add(float x) {
    const uint32_t bits = floatToBits(x);
    const int exponent = int((bits >> 23) & 0xffu);
    if (exponent >= 127 + 63) {
      saturated = true;
      return;
    }
    if (exponent <= 61) { // |x| < 2^-65: less than half a step
      return;
    }
    // x = significand * 2^(exponent - 150), and a step is 2^-64.
    const uint32_t significand = (bits & 0x7fffffu) | 0x800000u;
    const int shift = exponent - 86;
    UInt128 term = shift >= 0 ? UInt128(significand) << shift
                              : UInt128(shiftRightEven(significand, -shift));
    addExact((bits >> 31) != 0 ? -Int128(term) : Int128(term));
  }

  /// Adds another accumulator's sum (shards of one row).
  ORRERY_HD void add(const WideAccumulator &other) {
    saturated |= other.saturated;
    addExact(other.sum);
  }

  /// The sum as f32, rounded once to nearest even; NaN when saturated.
  ORRERY_HD float read() const {
    if (saturated) {
      return bitsToFloat(0x7fc00000u);
    }
    if (sum == 0) {
      return 0.0f;
    }
    const bool negative = sum < 0;
    UInt128 magnitude = negative ? UInt128(0) - UInt128(sum) : UInt128(sum);
    int scale = 0; // magnitude counts steps of 2^(scale - 64)
    UInt128 lost = 0;
    while ((magnitude >> 32) != 0) {
      const int step = (magnitude >> 96) != 0 ? 64 : 8;
      lost |= magnitude & ((UInt128(1) << step) - 1);
      magnitude >>= step;
      scale += step;
    }
    // A sticky bit below 24 significant ones keeps the rounding right.
    const int64_t head = int64_t(magnitude) << 28 | (lost != 0 ? 1 : 0);
    const float value = float(head) * bitsToFloat(uint32_t(scale + 35) << 23);
    return negative ? -value : value;
  }

private:
  /// value / 2^shift to nearest even, for shift >= 1.
  ORRERY_HD static constexpr uint32_t shiftRightEven(uint32_t value,
                                                     int shift) {
    const uint32_t kept = value >> shift;
    const uint32_t rest = value & ((1u << shift) - 1);
    const uint32_t half = 1u << (shift - 1);
    return kept + ((rest > half || (rest == half && (kept & 1))) ? 1 : 0);
  }

  ORRERY_HD void addExact(Int128 term) {
    const Int128 total = Int128(UInt128(sum) + UInt128(term));
    saturated |= ((sum ^ total) & (term ^ total)) < 0;
    sum = total;
  }
};

//===-- Quantization of activations and KV rows (rules 4, 10) -------------===//

/// rint(x) as a code in [-127, 127]; NaN (from 0 * inf) gives 0.
ORRERY_HD inline int8_t roundToCode(float x) {
  const float r = ::rintf(x);
  if (!(r > -127.0f)) {
    return r <= -127.0f ? int8_t(-127) : int8_t(0);
  }
  return r < 127.0f ? int8_t(r) : int8_t(127);
}

/// Greatest magnitude of x[0..n); NaN if any element is NaN or infinite.
ORRERY_HD inline float finiteAmax(const float *x, int n) {
  uint32_t amax = 0;
  for (int i = 0; i < n; ++i) {
    const uint32_t magnitude = floatToBits(x[i]) & 0x7fffffffu;
    amax = magnitude > amax ? magnitude : amax;
  }
  return amax >= 0x7f800000u ? bitsToFloat(0x7fc00000u) : bitsToFloat(amax);
}

/// a8: one block of n <= 32 activations to q[0..32) and the f32 scale *d.
/// Codes past n are 0. False (zeros, *d = NaN) if an element is not finite.
/// Below amax ~ 3.7e-37, 127/amax is infinite: nonzero elements become +-127
/// and the block's products vanish in the accumulator anyway.
ORRERY_HD inline bool quantizeA8Block(const float *x, int n, int8_t *q,
                                      float *d) {
  const float amax = finiteAmax(x, n);
  *d = amax / 127.0f;
  const bool usable = amax > 0.0f;
  const float id = usable ? 127.0f / amax : 0.0f;
  for (int i = 0; i < kBlock; ++i) {
    q[i] = usable && i < n ? roundToCode(x[i] * id) : int8_t(0);
  }
  return amax == amax;
}

/// KV q8: one row (token and head) of n values to codes and the f16 scale bits
/// *d = f16(amax/127); codes are rounded against the *rounded* scale and are 0
/// when it is 0. False (zeros, *d = NaN) if an element is not finite, or if the
/// scale overflows f16.
ORRERY_HD inline bool quantizeKvRow(const float *x, int n, int8_t *q,
                                    uint16_t *d) {
  const float amax = finiteAmax(x, n);
  *d = floatToHalf(amax / 127.0f);
  const float scale = halfToFloat(*d);
  const bool usable = scale > 0.0f && isFinite(scale);
  for (int i = 0; i < n; ++i) {
    q[i] = usable ? roundToCode(x[i] / scale) : int8_t(0);
  }
  if (!isFinite(scale)) {
    *d = 0x7e00u;
  }
  return isFinite(scale);
}

/// KV q4: as quantizeKvRow with codes in [-7, 7] and *d = f16(amax/7).
ORRERY_HD inline bool quantizeKvRow4(const float *x, int n, int8_t *q,
                                     uint16_t *d) {
  const float amax = finiteAmax(x, n);
  *d = floatToHalf(amax / 7.0f);
  const float scale = halfToFloat(*d);
  const bool usable = scale > 0.0f && isFinite(scale);
  for (int i = 0; i < n; ++i) {
    const int8_t code = usable ? roundToCode(x[i] / scale) : int8_t(0);
    q[i] = code > 7 ? int8_t(7) : code < -7 ? int8_t(-7) : code;
  }
  if (!isFinite(scale)) {
    *d = 0x7e00u;
  }
  return isFinite(scale);
}

//===-- Normalisation and rotary embedding (rules 7, 11) ------------------===//

/// 1 / sqrt(sum/n + eps), sum a wide sum of squares read out as f32.
ORRERY_HD inline float inverseNorm(float sum, int64_t n, float eps) {
  const float mean = sum / float(n);
  return 1.0f / ::sqrtf(mean + eps);
}

/// Rotates the pair (x0, x1) by the angle whose cosine and sine are c, s.
ORRERY_HD inline void ropePair(float &x0, float &x1, float c, float s) {
  const float a = x0;
  const float b = x1;
  x0 = a * c - b * s;
  x1 = a * s + b * c;
}

/// Inverse frequencies theta^(-2i/rotaryDim), i < rotaryDim/2, in double; a
/// model's rope scaling is applied to these before a table is made.
inline std::vector<double> ropeFrequencies(int rotaryDim, double theta) {
  std::vector<double> frequencies;
  for (int i = 0; i < rotaryDim / 2; ++i) {
    frequencies.push_back(::pow(theta, -2.0 * i / rotaryDim));
  }
  return frequencies;
}

/// cos, sin f32 [positions, frequencies.size()], each computed in double.
struct RopeTable {
  std::vector<float> cos;
  std::vector<float> sin;
};

/// Table for positions first .. first+count-1; `scale` multiplies both
/// functions (YaRN's attention factor), 1 for plain RoPE.
inline RopeTable ropeTable(const std::vector<double> &frequencies,
                           int64_t first, int64_t count, double scale = 1.0) {
  RopeTable table;
  for (int64_t position = first; position < first + count; ++position) {
    for (double frequency : frequencies) {
      const double angle = double(position) * frequency;
      table.cos.push_back(float(::cos(angle) * scale));
      table.sin.push_back(float(::sin(angle) * scale));
    }
  }
  return table;
}

//===-- Choosing a token (rule 12) ----------------------------------------===//

/// Index of the greatest value, the lowest on ties (-0 ties +0); NaN never
/// wins; -1 when there is no candidate.
ORRERY_HD inline int64_t argmax(const float *x, int64_t n) {
  int64_t best = -1;
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] == x[i] && (best < 0 || x[i] > x[best])) {
      best = i;
    }
  }
  return best;
}

/// Four random words.
struct Random4 {
  uint32_t word[4];
};

/// Philox4x32-10 (Salmon et al., SC'11), constants and word order of Random123.
ORRERY_HD inline constexpr Random4 philox4x32(Random4 counter, uint32_t key0,
                                              uint32_t key1) {
  Random4 c = counter;
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t(0xD2511F53u) * c.word[0];
    const uint64_t p1 = uint64_t(0xCD9E8D57u) * c.word[2];
    c = Random4{{uint32_t(p1 >> 32) ^ c.word[1] ^ key0, uint32_t(p1),
                 uint32_t(p0 >> 32) ^ c.word[3] ^ key1, uint32_t(p0)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

/// The random words of one position: counter = (seed, position), 64 bits each,
/// low word first; key 0.
ORRERY_HD inline constexpr Random4 randomAt(uint64_t seed, uint64_t position) {
  return philox4x32(Random4{{uint32_t(seed), uint32_t(seed >> 32),
                             uint32_t(position), uint32_t(position >> 32)}},
                    0, 0);
}

/// Uniform in [0, 1): the upper 24 bits of a random word.
ORRERY_HD inline constexpr float uniform(uint32_t word) {
  return float(word >> 8) * 0x1p-24f;
}

} // namespace orrery::numerics

#endif // ORRERY_MACHINE_NUMERICS_H
