// Integer matrix kernels. 16 weight rows fill the lanes; per block an exact
// int32 dot product is scaled in f32 and rounded to the accumulator's step by
// one f64 addition. Static part per instruction set, then the driver.

#include "machine/kernels/Gemv.h"

#include "machine/kernels/GemvChunk.h"
#include "machine/numerics.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "machine/kernels/Gemv.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "machine/kernels/ExactTerm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace orrery::numerics {
namespace HWY_NAMESPACE {

//===-- Integer dot products of four codes a lane -------------------------===//

// Weight codes come biased to be non-negative, one row's four per 32-bit lane.

/// Multiplies in 16-bit halves, on any instruction set.
struct PairDot {
  struct Weights {
    VI even; // bytes 0 and 2
    VI odd;  // bytes 1 and 3
  };
  static constexpr int kWords = 2; // of activations per quad, see PreparedRows
  static const int32_t *rowOf(const IntegerChunk &c, int t) {
    return c.pairs[t];
  }

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  static HWY_INLINE Weights split(VI bytes) {
    const DI di;
    const hn::Repartition<uint16_t, DI> d16;
    const VI odd = hn::BitCast(di, hn::ShiftRight<8>(hn::BitCast(d16, bytes)));
    return {hn::And(bytes, hn::Set(di, 0x00ff00ff)), odd};
  }
  static HWY_INLINE VI add(VI sum, const Weights &w, const int32_t *x) {
    return addPair(addPair(sum, w.even, x[0]), w.odd, x[1]);
  }
  /// pmaddwd: each 32-bit lane adds the products of its halves.
  static HWY_INLINE VI addPair(VI sum, VI w, int32_t x) {
    const DI di;
    const hn::Repartition<int16_t, DI> d16;
    VI unused = hn::Zero(di);
    return hn::ReorderWidenMulAccumulate(
        di, hn::BitCast(d16, w), hn::BitCast(d16, hn::Set(di, x)), sum, unused);
  }
#else
  static HWY_INLINE Weights split(VI bytes) {
    const VI mask = hn::Set(DI(), 0x00ff00ff);
    return {hn::And(bytes, mask), hn::And(hn::ShiftRight<8>(bytes), mask)};
  }
  static HWY_INLINE VI add(VI sum, const Weights &w, const int32_t *x) {
    return addPair(addPair(sum, w.even, x[0]), w.odd, x[1]);
  }
  static HWY_INLINE VI addPair(VI sum, VI w, int32_t x) {
    const DI di;
    const VI low = hn::And(w, hn::Set(di, 0xffff));
    const VI high = hn::ShiftRight<16>(w);
    sum = hn::Add(sum, hn::Mul(low, hn::Set(di, int32_t(int16_t(x)))));
    return hn::Add(sum, hn::Mul(high, hn::Set(di, x >> 16)));
  }
#endif
};

#if HWY_TARGET == HWY_AVX3
/// AVX-512 VNNI: unsigned times signed bytes, exact in 32 bits. Highway 1.0.3
/// has no such operation, and its AVX3_DL target asks for AVX-VNNI encodings
/// that AVX-512 machines may lack; hence the instruction by name.
struct VnniDot {
  using Weights = VI;
  static constexpr int kWords = 1;
  static const int32_t *rowOf(const IntegerChunk &c, int t) {
    return c.quads[t];
  }
  static HWY_INLINE Weights split(VI bytes) { return bytes; }
  static HWY_INLINE VI add(VI sum, Weights w, const int32_t *x) {
    asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum.raw) : "v"(w.raw), "m"(*x));
    return sum;
  }
};
#endif

//===-- Weight codes ------------------------------------------------------===//

struct Codes8 {
  static constexpr int32_t kBias = 128;
  static constexpr int kQuadsPerLine = 1;
  static HWY_INLINE void unpack(VI line, VI *quads) { quads[0] = line; }
};

struct Codes4 {
  static constexpr int32_t kBias = 8;
  static constexpr int kQuadsPerLine = 2;
  static HWY_INLINE void unpack(VI line, VI *quads) {
    const VI mask = hn::Set(DI(), 0x0f0f0f0f);
    quads[0] = hn::And(line, mask);
    quads[1] = hn::And(hn::ShiftRight<4>(line), mask);
  }
};

//===-- One chunk ---------------------------------------------------------===//

/// Exact dot products of block b with each activation row.
template <class Dot, class Codes, int kRows, int kQuads>
HWY_INLINE void dotBlock(const IntegerChunk &c, int lane, int64_t b, VI *isum) {
  const DI di;
  constexpr int kLines = kQuads / Codes::kQuadsPerLine;
  for (int t = 0; t < kRows; ++t) {
    isum[t] = hn::Set(di, -Codes::kBias * c.xsum[t][b]);
  }
  const uint8_t *line = c.codes + (b * kLines * kGroupRows + lane) * 4;
  for (int i = 0; i < kLines; ++i) {
    VI quads[Codes::kQuadsPerLine];
    const uint8_t *at = line + i * 4 * kGroupRows;
    Codes::unpack(hn::LoadU(di, reinterpret_cast<const int32_t *>(at)), quads);
    for (int j = 0; j < Codes::kQuadsPerLine; ++j) {
      const auto w = Dot::split(quads[j]);
      const int64_t quad = b * kQuads + i * Codes::kQuadsPerLine + j;
      for (int t = 0; t < kRows; ++t) {
        isum[t] = Dot::add(isum[t], w, Dot::rowOf(c, t) + Dot::kWords * quad);
      }
    }
  }
}

/// kRows activation rows against one row group; kQuads quads per block.
template <class Dot, class Codes, int kRows, int kQuads, class LoadScale>
HWY_INLINE void runChunk(IntegerChunk &c, LoadScale loadScale) {
  const DF df;
  for (int lane = 0; lane < kGroupRows; lane += kLanes) {
    ExactSum sum[kRows];
    for (int64_t b = 0; b < c.blocks; ++b) {
      VI isum[kRows];
      dotBlock<Dot, Codes, kRows, kQuads>(c, lane, b, isum);
      const int64_t dxAt = b * kQuads / (kBlock / 4);
      const VF dw = loadScale(b * kGroupRows + lane);
      for (int t = 0; t < kRows; ++t) {
        const VF dx = hn::Set(df, c.dx[t][dxAt]);
        sum[t].add(hn::Mul(hn::ConvertTo(df, isum[t]), hn::Mul(dw, dx)));
      }
      if (c.mins == nullptr) {
        continue;
      }
      const VF m = hn::LoadU(df, c.mins + b * kGroupRows + lane);
      for (int t = 0; t < kRows; ++t) {
        const VF dx = hn::Set(df, c.dx[t][dxAt]);
        const VF xsum = hn::Set(df, float(c.xsum[t][b]));
        sum[t].add(hn::Mul(xsum, hn::Mul(m, dx)));
      }
    }
    for (int t = 0; t < kRows; ++t) {
      sum[t].store(c.terms(), c.sum[t] + lane, c.worst[t] + lane);
    }
  }
}

template <class Dot, int kRows> HWY_INLINE void runFormat(IntegerChunk &c) {
  const DF df;
  const auto half = [&](int64_t at) { return loadHalves(c.halfScales + at); };
  const auto single = [&](int64_t at) { return hn::LoadU(df, c.scales + at); };
  const auto one = [&](int64_t) { return hn::Set(df, 1.0f); };
  switch (c.format) {
  case PackedFormat::Q8:
    return runChunk<Dot, Codes8, kRows, 8>(c, half);
  case PackedFormat::Q4:
    return runChunk<Dot, Codes4, kRows, 8>(c, half);
  case PackedFormat::Codes8:
    return runChunk<Dot, Codes8, kRows, 8>(c, one);
  case PackedFormat::Affine8:
    return c.block == 16 ? runChunk<Dot, Codes8, kRows, 4>(c, single)
                         : runChunk<Dot, Codes8, kRows, 8>(c, single);
  case PackedFormat::Half:
    return;
  }
}

template <class Dot> HWY_INLINE void runRows(IntegerChunk &c) {
  switch (c.rows) {
  case 1:
    return runFormat<Dot, 1>(c);
  case 2:
    return runFormat<Dot, 2>(c);
  default:
    return runFormat<Dot, 4>(c);
  }
}

/// Whether `integerChunk` looks at `useVnni` at all.
bool hasVnni() { return HWY_TARGET == HWY_AVX3; }

void integerChunk(IntegerChunk &c) {
#if HWY_TARGET == HWY_AVX3
  if (c.useVnni) {
    return runRows<VnniDot>(c);
  }
#endif
  runRows<PairDot>(c);
}

} // namespace HWY_NAMESPACE
} // namespace orrery::numerics
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace orrery::numerics {
namespace {

HWY_EXPORT(integerChunk);
HWY_EXPORT(hasVnni);

std::atomic<bool> vnniAllowed = true;

/// Whether the kernel and this machine have 512-bit VNNI and it is allowed.
bool vnniUsable() {
#if HWY_ARCH_X86
  static const bool present = __builtin_cpu_supports("avx512vnni") != 0;
  return present && vnniAllowed && HWY_DYNAMIC_DISPATCH(hasVnni)();
#else
  return false;
#endif
}

/// Blocks per chunk: with a minimum each, 2 * 1024 terms below 2^51 stay inside
/// an int64, and the scalar redo of one too large term stays cheap.
constexpr int64_t kChunkBlocks = 1024;

/// Activation codes as the dot products of this machine read them; zeros past
/// k. The storage of the last ones of a thread is used again: a tile's call is
/// short enough for an allocation to be felt.
class PreparedRows {
public:
  PreparedRows(const A8View &x, int block, bool useVnni)
      : quadCount((x.k + kBlock - 1) / kBlock * (kBlock / 4)),
        blockCount((x.k + block - 1) / block), words(storage()) {
    const int64_t quadWords = x.rows * quadCount;
    sumsAt = quadWords;
    pairsAt = sumsAt + x.rows * blockCount;
    const int64_t needed = pairsAt + (useVnni ? 0 : 2 * quadWords);
    if (words.size() < size_t(needed)) {
      words.resize(size_t(needed));
    }
    for (int64_t t = 0; t < x.rows; ++t) {
      fill(x, t, block);
    }
    for (int64_t i = 0; i < quadWords && !useVnni; ++i) {
      fillPairs(i);
    }
  }

  /// Per quad: the four codes as bytes.
  const int32_t *quads(int64_t t) const { return &words[t * quadCount]; }
  /// Per quad: codes 0 and 2, then 1 and 3, in 16-bit halves; not for VNNI.
  const int32_t *pairs(int64_t t) const {
    return words.data() + pairsAt + t * quadCount * 2;
  }
  /// Per weight block: the sum of the codes.
  const int32_t *blockSums(int64_t t) const {
    return &words[sumsAt + t * blockCount];
  }

private:
  static std::vector<int32_t> &storage() {
    static thread_local std::vector<int32_t> words;
    return words;
  }

  void fill(const A8View &x, int64_t t, int block) {
    const int8_t *codes = x.codes + t * x.codeStride;
    int32_t *quads = &words[t * quadCount];
    std::fill(quads + x.k / 4, quads + quadCount, 0);
    std::memcpy(quads, codes, size_t(x.k));
    for (int64_t b = 0; b < blockCount; ++b) {
      const int64_t end = std::min((b + 1) * block, x.k);
      words[sumsAt + t * blockCount + b] =
          std::accumulate(codes + b * block, codes + end, int32_t(0));
    }
  }

  void fillPairs(int64_t i) {
    const int32_t quad = words[i];
    const int32_t second = int8_t(quad >> 8);
    int32_t *pair = &words[pairsAt + 2 * i];
    pair[0] = (int8_t(quad) & 0xffff) | (int8_t(quad >> 16) << 16);
    pair[1] = (second & 0xffff) | (quad >> 24 << 16);
  }

  int64_t quadCount, blockCount;
  int64_t sumsAt, pairsAt; ///< where they start in `words`
  std::vector<int32_t> &words;
};

/// The part of a chunk that all row groups share: up to 4 activation rows from
/// t on, over blocks from `first` on.
void setActivations(IntegerChunk &c, const PackedView &m, const A8View &x,
                    const PreparedRows &prepared, int64_t t, int64_t first) {
  const int64_t left = x.rows - t;
  c.format = m.format;
  c.block = m.block;
  c.rows = left >= 4 ? 4 : left >= 2 ? 2 : 1;
  c.blocks = std::min(kChunkBlocks, m.blocks() - first);
  for (int i = 0; i < c.rows; ++i) {
    c.quads[i] = prepared.quads(t + i) + first * m.block / 4;
    c.pairs[i] = prepared.pairs(t + i) + first * m.block / 4 * 2;
    c.xsum[i] = prepared.blockSums(t + i) + first;
    c.dx[i] = x.scales + (t + i) * x.scaleStride + first * m.block / kBlock;
  }
}

/// The weights of one row group.
void setWeights(IntegerChunk &c, const PackedView &m, int64_t group,
                int64_t first) {
  const int64_t blockBytes = m.format == PackedFormat::Q4 ? 16 : m.block;
  c.codes = m.codes + group * m.groupBytes + first * blockBytes * kGroupRows;
  const int64_t scaleAt = group * m.groupScales + first * kGroupRows;
  c.halfScales = m.halfScales != nullptr ? m.halfScales + scaleAt : nullptr;
  c.scales = m.scales != nullptr ? m.scales + scaleAt : nullptr;
  c.mins = m.mins != nullptr ? m.mins + scaleAt : nullptr;
}

} // namespace

void allowVnni(bool allow) { vnniAllowed = allow; }

bool gemvExact(const PackedView &m, const A8View &x, int64_t *acc,
               int64_t accStride) {
  assert(m.k == x.k && m.format != PackedFormat::Half);
  if (m.k == 0 || m.rows == 0) {
    return true;
  }
  const bool useVnni = vnniUsable();
  const PreparedRows prepared(x, m.block, useVnni);
  const auto kernel = HWY_DYNAMIC_DISPATCH(integerChunk);
  bool inRange = true;
  IntegerChunk c;
  c.useVnni = useVnni;
  int64_t preparedT = -1, preparedFirst = -1;
  for (int64_t group = 0; group < m.groups(); ++group) {
    for (int64_t first = 0; first < m.blocks(); first += kChunkBlocks) {
      for (int64_t t = 0; t < x.rows;) {
        if (t != preparedT || first != preparedFirst) {
          setActivations(c, m, x, prepared, t, first);
          preparedT = t;
          preparedFirst = first;
        }
        setWeights(c, m, group, first);
        kernel(c);
        inRange &= c.addTo(
            acc + t * accStride + group * kGroupRows, accStride,
            std::min<int64_t>(kGroupRows, m.rows - group * kGroupRows),
            [&](int i, int64_t lane, int64_t &sum) {
              return accumulateBlocks(m, x, group * kGroupRows + lane, t + i,
                                      first, first + c.blocks, sum);
            });
        t += c.rows;
      }
    }
  }
  return inRange;
}

} // namespace orrery::numerics
#endif // HWY_ONCE
