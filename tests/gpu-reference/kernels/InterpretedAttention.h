// The interpreter's llm.attention on plain rows: an op, its cache, rows in and
// out. Needs MLIR, so not for what nvcc compiles.
#pragma once

#include "dialects/llm/Evaluate.h"
#include "tests/gpu-reference/kernels/DefinedAttention.h"

#include "mlir/IR/Builders.h"

namespace orrery::gpu {

inline llm::KvFormat dialectFormat(KvFormat format) {
  return format == KvFormat::F16  ? llm::KvFormat::F16
         : format == KvFormat::Q8 ? llm::KvFormat::Q8
                                  : llm::KvFormat::Q4;
}

/// The interpreter's side: an op, its cache, and rows in and out.
class InterpretedAttention {
public:
  explicit InterpretedAttention(const AttentionShape &s)
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

} // namespace orrery::gpu
