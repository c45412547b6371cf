#include "runtime/SeenOp.h"

#include "runtime/CutStep.h"

#include "mlir/IR/Operation.h"

#include <algorithm>

namespace orrery::runtime {

SeenOp seenOp(mlir::Operation *op, const llm::Tensor &value) {
  return {nameOf(op), op->getName().getStringRef().str(), value};
}

SeenOp seenOp(const gpu::OpValue &value) {
  llm::Tensor rows(value.rows, value.width);
  std::ranges::copy(value.values, rows.values.begin());
  return {std::string(value.op), "", std::move(rows)};
}

SeenOp rowOf(const SeenOp &seen, int64_t row) {
  llm::Tensor one(1, seen.value.width);
  std::ranges::copy(seen.value.row(row), one.values.begin());
  return {seen.op, seen.kind, std::move(one)};
}

std::optional<OpDifference> firstOf(std::span<const SeenOp> expected,
                                    std::span<const SeenOp> found,
                                    uint32_t position) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const SeenOp &e = expected[i];
    if (i >= found.size() || found[i].op != e.op) {
      return OpDifference{e.op,
                          e.kind,
                          {position, 0, 0, 0},
                          "the reference shows no value of it there"};
    }
    BitCompare bits;
    for (int64_t t = 0; t < e.value.rows; ++t) {
      std::span<const float> row;
      if (t < found[i].value.rows) {
        row = found[i].value.row(t);
      }
      bits.add(position + uint32_t(t), e.value.row(t), row);
    }
    if (bits.different() > 0) {
      return OpDifference{e.op, e.kind, *bits.first(), ""};
    }
  }
  return std::nullopt;
}

} // namespace orrery::runtime
