// Attention on both sides, kernels over pages and the interpreter's
// llm.attention, with the same rows.
#pragma once

#include "gpu-reference/kernels/Attention.h"

#include "dialects/llm/Evaluate.h"
#include "tests/gpu-reference/kernels/PagedCache.h"

#include "mlir/IR/Builders.h"

#include <cmath>
#include <optional>

namespace orrery::gpu::emulated {

using models::KvFormat;

struct AttentionShape {
  int32_t heads, kvHeads, headDim;
  KvFormat format;
};

inline llm::KvFormat dialectFormat(KvFormat format) {
  return format == KvFormat::F16  ? llm::KvFormat::F16
         : format == KvFormat::Q8 ? llm::KvFormat::Q8
                                  : llm::KvFormat::Q4;
}

/// The interpreter's side: an op, its cache, and rows in and out.
class Interpreted {
public:
  explicit Interpreted(const AttentionShape &s)
      : shape(s), op(make(s)), cache(op) {}

  /// The result's rows [tokens][heads * headDim]; k and v are appended at `at`.
  std::vector<float> attend(const std::vector<float> &q,
                            const std::vector<float> &k,
                            const std::vector<float> &v, int32_t at) {
    return llm::evaluate(op, rows(q, shape.heads), rows(k, shape.kvHeads),
                         rows(v, shape.kvHeads), cache, at)
        .values;
  }
  /// Appends without attention.
  void append(const std::vector<float> &k, const std::vector<float> &v,
              int32_t at) {
    const llm::Tensor keys = rows(k, shape.kvHeads);
    const llm::Tensor values = rows(v, shape.kvHeads);
    for (int64_t t = 0; t < keys.rows; ++t) {
      cache.put(at + t, keys.row(t), values.row(t));
    }
  }

private:
  llm::AttentionOp make(const AttentionShape &s) {
    context.loadDialect<llm::LlmDialect>();
    mlir::OpBuilder builder(&context);
    builder.setInsertionPointToStart(&block);
    const mlir::Location loc = builder.getUnknownLoc();
    auto rowsOf = [&](int64_t heads) {
      return block.addArgument(
          mlir::RankedTensorType::get({1, heads * s.headDim},
                                      builder.getF32Type()),
          loc);
    };
    mlir::Value q = rowsOf(s.heads);
    mlir::Value k = rowsOf(s.kvHeads);
    mlir::Value v = rowsOf(s.kvHeads);
    return builder.create<llm::AttentionOp>(loc, q.getType(), q, k, v, 0,
                                            s.heads, s.kvHeads, s.headDim,
                                            dialectFormat(s.format), 4096);
  }
  llm::Tensor rows(const std::vector<float> &values, int64_t heads) const {
    const int64_t width = heads * shape.headDim;
    llm::Tensor tensor(int64_t(values.size()) / width, width);
    tensor.values = values;
    return tensor;
  }

  AttentionShape shape;
  mlir::MLIRContext context;
  mlir::Block block;
  llm::AttentionOp op;
  llm::LayerCache cache;
};

/// What the kernels gave.
struct Outcome {
  std::vector<float> values;
  std::optional<FaultPlace> fault;
};

/// Both sides over the same rows.
class AttentionPair {
public:
  AttentionPair(const AttentionShape &shape, int32_t pagePositions,
                int32_t room, std::mt19937 &random)
      : shape(shape), room(room), random(random),
        cache({3, shape.kvHeads, shape.headDim, shape.format, pagePositions},
              room, random),
        expected(shape) {}

  std::vector<float> values(int32_t tokens, int32_t heads) {
    return randomValues(size_t(tokens) * size_t(heads * shape.headDim), random);
  }
  /// Positions 0 .. count-1 on both sides.
  void fill(int32_t count) {
    if (count > 0) {
      const auto k = values(count, shape.kvHeads);
      const auto v = values(count, shape.kvHeads);
      cache.append(kLayer, 0, k, v);
      expected.append(k, v, 0);
    }
  }
  AttentionPlan plan(int32_t tokens, int32_t splitPositions = 0) const {
    return must(
        planAttention(cache.layout, shape.heads, tokens, room, splitPositions));
  }
  Outcome run(const std::vector<float> &q, int32_t tokens, int32_t at,
              const AttentionPlan &plan) {
    const Buffer<float> queries = must(Buffer<float>::copyOf(q, "q"));
    Buffer<float> out = must(Buffer<float>::allocate(q.size(), "out"));
    Buffer<uint8_t> scratch = must(Buffer<uint8_t>::allocate(
        attentionScratchBytes(plan, cache.layout), "scratch"));
    Buffer<Fault> fault =
        must(Buffer<Fault>::copyOf(std::vector<Fault>{{kNoFault}}, "fault"));
    cache.moveTo(at);
    attention(queries.data(), out.data(), tokens, cache.position.data(),
              cache.view(kLayer), plan, scratch.data(), {fault.data(), kOp},
              nullptr);
    check(launchStatus("attention"));
    return {must(out.read()), faultPlace(must(fault.read())[0])};
  }

  static constexpr int32_t kLayer = 1;
  static constexpr uint32_t kOp = 17;
  AttentionShape shape;
  int32_t room;
  std::mt19937 &random;
  PagedCache cache;
  Interpreted expected;
};

/// The first element that is not finite, as the interpreter looks for it.
inline std::optional<FaultPlace> firstFault(const std::vector<float> &values,
                                            int32_t width) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return FaultPlace{AttentionPair::kOp, uint32_t(i / size_t(width)),
                        uint32_t(i % size_t(width))};
    }
  }
  return std::nullopt;
}

/// Equal bits, any NaN equal to any.
inline void expectSame(const Outcome &found, const std::vector<float> &expected,
                       int32_t width) {
  ASSERT_EQ(found.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const float a = found.values[i];
    const float b = expected[i];
    ASSERT_TRUE((std::isnan(a) && std::isnan(b)) ||
                numerics::floatToBits(a) == numerics::floatToBits(b))
        << "row " << i / size_t(width) << ", element " << i % size_t(width)
        << ": " << a << ", expected " << b;
  }
  EXPECT_EQ(found.fault, firstFault(expected, width));
}

} // namespace orrery::gpu::emulated
