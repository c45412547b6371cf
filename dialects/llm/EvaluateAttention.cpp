// The meaning of llm.attention: LlmAttention.td has the formulas.
#include "dialects/llm/Evaluate.h"

#include <algorithm>
#include <array>

using namespace orrery::numerics;

namespace orrery::llm {

namespace {
/// One query head of one token, and what it sees.
struct HeadView {
  const float *q; ///< [headDim]
  const LayerCache &cache;
  int64_t kvHead;
  int64_t headDim;
  int64_t visible; ///< positions 0 .. visible-1

  float scale() const { return 1.0f / sqrtf(float(headDim)); }
};

/// A block of up to 32 values quantized to a8.
struct A8Block {
  A8Block(const float *x, int64_t count) : count(count) {
    // A value that is not finite leaves a NaN scale.
    (void)quantizeA8Block(x, int(count), codes.data(), &scale);
  }

  int64_t count;
  std::array<int8_t, kBlock> codes;
  float scale;
};
} // namespace

/// x [size] in blocks of 32 from its start.
static std::vector<A8Block> quantizeBlocks(const float *x, int64_t size) {
  std::vector<A8Block> blocks;
  for (int64_t first = 0; first < size; first += kBlock) {
    blocks.emplace_back(x + first, std::min<int64_t>(kBlock, size - first));
  }
  return blocks;
}

static std::vector<float> scoresOfCodes(const HeadView &head) {
  const std::vector<A8Block> q = quantizeBlocks(head.q, head.headDim);
  const CachedRows &keys = head.cache.keys();
  std::vector<float> scores;
  for (int64_t u = 0; u < head.visible; ++u) {
    const int8_t *k = keys.codesAt(u, head.kvHead);
    ExactSum dot;
    for (const A8Block &block : q) {
      int32_t isum = 0;
      for (int64_t i = 0; i < block.count; ++i) {
        isum += int32_t(block.codes[i]) * k[i];
      }
      dot.add(blockTerm(isum, 1.0f, block.scale));
      k += block.count;
    }
    scores.push_back((dot.read() * keys.scaleAt(u, head.kvHead)) *
                     head.scale());
  }
  return scores;
}

static std::vector<float> scoresOfHalves(const HeadView &head) {
  std::vector<float> scores;
  for (int64_t u = 0; u < head.visible; ++u) {
    const float *k = head.cache.keys().valuesAt(u, head.kvHead);
    ExactSum dot;
    for (int64_t i = 0; i < head.headDim; ++i) {
      dot.add(halfTerm(roundToHalf(head.q[i]), k[i]));
    }
    scores.push_back(dot.read() * head.scale());
  }
  return scores;
}

/// out[i] = sum over u of weights[u] * V[u, i], not yet divided.
static void mixCodes(const HeadView &head, std::span<const float> p,
                     std::span<float> out) {
  const CachedRows &values = head.cache.values();
  std::vector<float> a;
  for (int64_t u = 0; u < head.visible; ++u) {
    a.push_back(p[u] * values.scaleAt(u, head.kvHead));
  }
  const std::vector<A8Block> blocks = quantizeBlocks(a.data(), head.visible);
  for (int64_t i = 0; i < head.headDim; ++i) {
    ExactSum sum;
    int64_t u = 0;
    for (const A8Block &block : blocks) {
      int32_t isum = 0;
      for (int64_t j = 0; j < block.count; ++j, ++u) {
        isum += int32_t(block.codes[j]) * values.codesAt(u, head.kvHead)[i];
      }
      sum.add(blockTerm(isum, 1.0f, block.scale));
    }
    out[i] = sum.read();
  }
}

static void mixHalves(const HeadView &head, std::span<const float> p,
                      std::span<float> out) {
  for (int64_t i = 0; i < head.headDim; ++i) {
    ExactSum sum;
    for (int64_t u = 0; u < head.visible; ++u) {
      const float *v = head.cache.values().valuesAt(u, head.kvHead);
      sum.add(halfTerm(roundToHalf(p[u]), v[i]));
    }
    out[i] = sum.read();
  }
}

static void attend(KvFormat format, const HeadView &head,
                   std::span<float> out) {
  std::vector<float> p =
      format == KvFormat::F16 ? scoresOfHalves(head) : scoresOfCodes(head);
  const float max = *std::ranges::max_element(p);
  ExactSum sum;
  for (float &x : p) {
    x = expExact(x - max);
    sum.add(floatTerm(x));
  }
  if (format == KvFormat::F16) {
    mixHalves(head, p, out);
  } else {
    mixCodes(head, p, out);
  }
  const float z = sum.read();
  for (float &x : out) {
    x = x / z;
  }
}

Tensor evaluate(AttentionOp op, const Tensor &q, const Tensor &k,
                const Tensor &v, LayerCache &cache, int64_t position) {
  for (int64_t t = 0; t < q.rows; ++t) {
    cache.put(position + t, k.row(t), v.row(t));
  }
  Tensor result(q.rows, q.width);
  const int64_t headDim = op.getHeadDim();
  const int64_t group = op.getHeads() / op.getKvHeads();
  for (int64_t t = 0; t < q.rows; ++t) {
    for (int64_t h = 0; h < op.getHeads(); ++h) {
      const HeadView head{q.row(t).data() + h * headDim, cache, h / group,
                          headDim, position + t + 1};
      attend(op.getKvFormat(), head,
             result.row(t).subspan(h * headDim, headDim));
    }
  }
  return result;
}

} // namespace orrery::llm
