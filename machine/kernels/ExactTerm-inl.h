// Vector pieces of the exact accumulator, compiled once per instruction set by
// the kernels that include it. Needs vectors of fixed size (x86, NEON).

#if defined(ORRERY_MACHINE_KERNELS_EXACTTERM_INL_H) ==                         \
    defined(HWY_TARGET_TOGGLE)
#ifdef ORRERY_MACHINE_KERNELS_EXACTTERM_INL_H
#undef ORRERY_MACHINE_KERNELS_EXACTTERM_INL_H
#else
#define ORRERY_MACHINE_KERNELS_EXACTTERM_INL_H
#endif

#include "hwy/highway.h"
#include "machine/numerics.h"

HWY_BEFORE_NAMESPACE();
namespace orrery::numerics {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DI = hn::CappedTag<int32_t, 16>;
using DF = hn::Rebind<float, DI>;
using DD = hn::CappedTag<double, 8>;
using DL = hn::Rebind<int64_t, DD>;
using VI = hn::Vec<DI>;
using VF = hn::Vec<DF>;
using VD = hn::Vec<DD>;
using VL = hn::Vec<DL>;

static_assert(!HWY_HAVE_SCALABLE, "arrays of vectors need a fixed size");
inline constexpr int kLanes = int(hn::MaxLanes(DI()));
inline constexpr int kLanes64 = int(hn::MaxLanes(DD()));
/// f64 vectors per f32 vector: 2, or 1 where a vector is one lane.
inline constexpr int kParts = kLanes / kLanes64;

/// kLanes f16 values as f32.
HWY_INLINE VF loadHalves(const uint16_t *p) {
  const DF df;
#if HWY_NATIVE_FMA
  const hn::Rebind<hwy::float16_t, DF> dh;
  return hn::PromoteTo(
      df, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t *>(p)));
#else
  // Highway's emulation below AVX2 turns infinity into 65536.
  HWY_ALIGN float values[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    values[i] = halfToFloat(p[i]);
  }
  return hn::Load(df, values);
#endif
}

/// Sums of rint(term * 2^36) in kLanes lanes, right while every term is below
/// 2^15 in magnitude.
class ExactSum {
public:
  HWY_INLINE ExactSum() : worst(hn::Zero(DI())) {
    for (VL &part : sum) {
      part = hn::Zero(DL());
    }
  }

  HWY_INLINE void add(VF term) {
    const DI di;
    const VI magnitude =
        hn::And(hn::BitCast(di, term), hn::Set(di, 0x7fffffff));
    worst = hn::Max(worst, magnitude);
    addPart(0, lowerPart(term));
    if constexpr (kParts == 2) {
      addPart(1, upperPart(term));
    }
  }

  /// After `terms` calls of add, to kLanes elements each.
  HWY_INLINE void store(int64_t terms, int64_t *sums, int32_t *worsts) const {
    // Every addition also added the bits of the magic number.
    const uint64_t surplus =
        uint64_t(terms) * __builtin_bit_cast(uint64_t, kMagic);
    for (int part = 0; part < kParts; ++part) {
      const VL total = hn::Sub(sum[part], hn::Set(DL(), int64_t(surplus)));
      hn::StoreU(total, DL(), sums + part * kLanes64);
    }
    hn::StoreU(worst, DI(), worsts);
  }

private:
  /// 1.5 * 2^52: one step of its binade is 1, for either sign of the term.
  static constexpr double kMagic = 0x1.8p52;

  HWY_INLINE void addPart(int part, VD term) {
    // The product is exact, so fused or not the one rounding is the same.
    const VD rounded = hn::MulAdd(term, hn::Set(DD(), kAccumulatorScale),
                                  hn::Set(DD(), kMagic));
    sum[part] = hn::Add(sum[part], hn::BitCast(DL(), rounded));
  }

#if HWY_TARGET == HWY_SCALAR
  static HWY_INLINE VD lowerPart(VF v) { return hn::PromoteTo(DD(), v); }
  static HWY_INLINE VD upperPart(VF v) { return hn::PromoteTo(DD(), v); }
#else
  static HWY_INLINE VD lowerPart(VF v) {
    return hn::PromoteTo(DD(), hn::LowerHalf(v));
  }
  static HWY_INLINE VD upperPart(VF v) {
    return hn::PromoteTo(DD(), hn::UpperHalf(hn::Half<DF>(), v));
  }
#endif

  VL sum[kParts];
  VI worst;
};

} // namespace HWY_NAMESPACE
} // namespace orrery::numerics
HWY_AFTER_NAMESPACE();

#endif
