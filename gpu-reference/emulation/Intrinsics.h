// Device intrinsics of one thread, bit for bit as the PTX instructions behind
// them (source: the CUDA Math API and the PTX ISA).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <math.h>

namespace orrery::gpu::emulated {

using std::max;
using std::min;

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }

/// Nearest even; saturates, NaN gives the lowest (cvt.rni.s64.f32).
inline long long __float2ll_rn(float x) {
  if (!(x > -0x1p63f)) {
    return INT64_MIN;
  }
  return x < 0x1p63f ? (long long)(::rintf(x)) : INT64_MAX;
}
/// As __float2ll_rn, but NaN gives 0 (cvt.rni.s32.f32).
inline int __float2int_rn(float x) {
  if (!(x >= -0x1p31f)) {
    return x < 0.0f ? INT32_MIN : 0;
  }
  return x < 0x1p31f ? int(::rintf(x)) : INT32_MAX;
}
inline float __ll2float_rn(long long x) { return float(x); }
inline float __int2float_rn(int x) { return float(x); }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return ::sqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return ::fmaf(a, b, c); }

/// c + the dot product of four signed bytes.
inline int __dp4a(int a, int b, int c) {
  auto sum = unsigned(c);
  for (int shift = 0; shift < 32; shift += 8) {
    sum += unsigned(int(int8_t(a >> shift)) * int(int8_t(b >> shift)));
  }
  return int(sum);
}
/// c + the dot product of four unsigned bytes.
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int shift = 0; shift < 32; shift += 8) {
    c += ((a >> shift) & 0xffu) * ((b >> shift) & 0xffu);
  }
  return c;
}

/// Per byte a - b, modulo 256.
inline unsigned __vsub4(unsigned a, unsigned b) {
  return ((a | 0x80808080u) - (b & 0x7f7f7f7fu)) ^ ((a ^ ~b) & 0x80808080u);
}
/// Per byte a + b, modulo 256.
inline unsigned __vadd4(unsigned a, unsigned b) {
  return ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u);
}
/// Byte i of the result is byte (selector >> 4i) & 7 of b:a.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const uint64_t bytes = uint64_t(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned from = (selector >> (4 * i)) & 7u;
    result |= unsigned((bytes >> (8 * from)) & 0xffu) << (8 * i);
  }
  return result;
}

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(unsigned(x)); }
inline int __clzll(long long x) {
  return std::countl_zero((unsigned long long)(x));
}
inline int __ffs(int x) {
  return x == 0 ? 0 : std::countr_zero(unsigned(x)) + 1;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned(uint64_t(a) * b >> 32);
}

// Loads and stores with a hint for the caches.
template <class T> T __ldg(const T *place) { return *place; }
template <class T> T __ldcs(const T *place) { return *place; }
template <class T> T __ldcg(const T *place) { return *place; }
template <class T> void __stcs(T *place, T value) { *place = value; }
template <class T> void __stcg(T *place, T value) { *place = value; }

} // namespace orrery::gpu::emulated
