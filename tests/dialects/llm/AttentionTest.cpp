// llm.attention bit for bit against a second reading of its specification: one
// query head at a time over all positions at once, with the compiler's
// _Float16 and __int128 sums instead of machine/numerics.h (but its exp).
#include "dialects/llm/Evaluate.h"

#include "mlir/IR/Builders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace orrery::llm {
namespace {

using Row = std::vector<float>;
__extension__ typedef __int128 Int128;

/// A reduction: exact terms rounded to 2^-36, read out once.
struct Sum {
  Int128 steps = 0;
  void add(float term) { steps += Int128(std::rint(double(term) * 0x1p36)); }
  float read() const { return float(int64_t(steps)) * 0x1p-36f; }
};

float half(float x) { return float(_Float16(x)); }

float magnitude(const float *x, int64_t n) {
  float max = 0;
  for (int64_t i = 0; i < n; ++i) {
    max = std::max(max, std::fabs(x[i]));
  }
  return max;
}

/// sum x[i] * code[i], x quantized in blocks of 32 from its start.
float blockDot(const Row &x, const std::vector<int> &codes) {
  Sum sum;
  for (size_t first = 0; first < x.size(); first += 32) {
    const size_t last = std::min(first + 32, x.size());
    const float max = magnitude(x.data() + first, int64_t(last - first));
    const float inverse = max == 0 ? 0 : 127.0f / max;
    int total = 0;
    for (size_t i = first; i < last; ++i) {
      total += int(std::rint(x[i] * inverse)) * codes[i];
    }
    sum.add(float(total) * (1.0f * (max / 127.0f)));
  }
  return sum.read();
}

/// A row of the q8 cache, or with a limit of 7 of the q4 cache.
struct Codes {
  Codes(const Row &x, float limit) {
    scale = half(magnitude(x.data(), int64_t(x.size())) / limit);
    for (float value : x) {
      const float code = scale == 0 ? 0 : std::rint(value / scale);
      codes.push_back(int(std::clamp(code, -limit, limit)));
    }
  }
  float scale;
  std::vector<int> codes;
};

/// p and Z from scores.
std::pair<Row, float> softmax(Row scores) {
  const float max = *std::max_element(scores.begin(), scores.end());
  Sum z;
  for (float &score : scores) {
    score = numerics::expExact(score - max);
    z.add(score);
  }
  return {scores, z.read()};
}

/// q [headDim]; keys, values [visible][headDim].
Row attendCodes(const Row &q, const std::vector<Row> &keys,
                const std::vector<Row> &values, float limit) {
  const float scale = 1.0f / std::sqrt(float(q.size()));
  Row scores;
  for (const Row &key : keys) {
    const Codes k(key, limit);
    scores.push_back((blockDot(q, k.codes) * k.scale) * scale);
  }
  const auto [p, z] = softmax(scores);
  std::vector<Codes> v;
  for (const Row &row : values) {
    v.emplace_back(row, limit);
  }
  Row a;
  for (size_t u = 0; u < p.size(); ++u) {
    a.push_back(p[u] * v[u].scale);
  }
  Row out;
  for (size_t i = 0; i < q.size(); ++i) {
    std::vector<int> column;
    for (const Codes &row : v) {
      column.push_back(row.codes[i]);
    }
    out.push_back(blockDot(a, column) / z);
  }
  return out;
}

Row attendF16(const Row &q, const std::vector<Row> &keys,
              const std::vector<Row> &values) {
  const float scale = 1.0f / std::sqrt(float(q.size()));
  Row scores;
  for (const Row &key : keys) {
    Sum dot;
    for (size_t i = 0; i < q.size(); ++i) {
      dot.add(half(q[i]) * half(key[i]));
    }
    scores.push_back(dot.read() * scale);
  }
  const auto [p, z] = softmax(scores);
  Row out;
  for (size_t i = 0; i < q.size(); ++i) {
    Sum sum;
    for (size_t u = 0; u < p.size(); ++u) {
      sum.add(half(p[u]) * half(values[u][i]));
    }
    out.push_back(sum.read() / z);
  }
  return out;
}

Row attend(KvFormat format, const Row &q, const std::vector<Row> &keys,
           const std::vector<Row> &values) {
  return format == KvFormat::F16
             ? attendF16(q, keys, values)
             : attendCodes(q, keys, values, format == KvFormat::Q8 ? 127 : 7);
}

struct Shape {
  int64_t heads;
  int64_t kvHeads;
  int64_t headDim;
  KvFormat format;
};

class Attention : public testing::TestWithParam<Shape> {
protected:
  void SetUp() override {
    context.loadDialect<LlmDialect>();
    mlir::OpBuilder builder(&context);
    const Shape s = GetParam();
    auto rows = [&](int64_t heads) {
      return mlir::RankedTensorType::get({kTokens, heads * s.headDim},
                                         builder.getF32Type());
    };
    builder.setInsertionPointToStart(&block);
    const mlir::Location loc = builder.getUnknownLoc();
    mlir::Value q = block.addArgument(rows(s.heads), loc);
    mlir::Value k = block.addArgument(rows(s.kvHeads), loc);
    mlir::Value v = block.addArgument(rows(s.kvHeads), loc);
    op = builder.create<AttentionOp>(loc, q.getType(), q, k, v, 0, s.heads,
                                     s.kvHeads, s.headDim, s.format, 128);
  }

  /// [tokens, heads * headDim], from 1e-3 to 8 in magnitude.
  Tensor randomRows(int64_t tokens, int64_t heads) {
    Tensor rows(tokens, heads * GetParam().headDim);
    for (float &value : rows.values) {
      const float exponent = float(random() % 1000) / 1000 * 13 - 10;
      value = (random() % 2 ? 1.0f : -1.0f) * std::exp2(exponent);
    }
    return rows;
  }

  static Row headOf(const Tensor &rows, int64_t t, int64_t head) {
    const auto part =
        rows.row(t).subspan(head * GetParam().headDim, GetParam().headDim);
    return Row(part.begin(), part.end());
  }

  /// Rows of one KV head at positions 0 .. count-1.
  static std::vector<Row> headRows(const Tensor &all, int64_t head,
                                   int64_t count) {
    std::vector<Row> rows;
    for (int64_t u = 0; u < count; ++u) {
      rows.push_back(headOf(all, u, head));
    }
    return rows;
  }

  static constexpr int64_t kTokens = 5;
  mlir::MLIRContext context;
  mlir::Block block;
  AttentionOp op;
  std::mt19937 random{2026};
};

Tensor slice(const Tensor &all, int64_t first, int64_t count) {
  Tensor part(count, all.width);
  std::copy_n(all.values.begin() + first * all.width, count * all.width,
              part.values.begin());
  return part;
}

TEST_P(Attention, SameBitsAsTheSpecificationReadAgain) {
  const Shape s = GetParam();
  constexpr int64_t positions = 70; // three blocks, the last one short
  const Tensor q = randomRows(positions, s.heads);
  const Tensor k = randomRows(positions, s.kvHeads);
  const Tensor v = randomRows(positions, s.kvHeads);
  LayerCache cache(op);
  for (int64_t first = 0; first < positions; first += kTokens) {
    const Tensor ours =
        evaluate(op, slice(q, first, kTokens), slice(k, first, kTokens),
                 slice(v, first, kTokens), cache, first);
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int64_t h = 0; h < s.heads; ++h) {
        const int64_t kvHead = h * s.kvHeads / s.heads;
        const int64_t visible = first + t + 1;
        ASSERT_EQ(headOf(ours, t, h), attend(s.format, headOf(q, first + t, h),
                                             headRows(k, kvHead, visible),
                                             headRows(v, kvHead, visible)))
            << "position " << first + t << ", head " << h;
      }
    }
  }
}

// A row of zeros has scale 0: nothing divides by it.
TEST_P(Attention, RowsOfZeros) {
  const Shape s = GetParam();
  const Tensor q(2, s.heads * s.headDim);
  const Tensor kv(2, s.kvHeads * s.headDim);
  LayerCache cache(op);
  const Tensor ours = evaluate(op, q, kv, kv, cache, 0);
  EXPECT_EQ(ours.values, Row(ours.values.size(), 0.0f));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Attention,
    testing::Values(Shape{4, 2, 8, KvFormat::Q8}, Shape{3, 1, 40, KvFormat::Q8},
                    Shape{2, 2, 32, KvFormat::Q8},
                    Shape{6, 3, 100, KvFormat::Q8},
                    Shape{1, 1, 1, KvFormat::Q8}, Shape{4, 2, 8, KvFormat::F16},
                    Shape{3, 1, 40, KvFormat::F16},
                    Shape{2, 1, 112, KvFormat::F16},
                    Shape{4, 2, 8, KvFormat::Q4}, Shape{3, 1, 40, KvFormat::Q4},
                    Shape{6, 3, 100, KvFormat::Q4}));

} // namespace
} // namespace orrery::llm
