// The meaning of the ops that work on each row by itself.
#include "dialects/llm/Evaluate.h"

namespace orrery::llm {

static float element(const numerics::PackedView &table, int64_t row,
                     int64_t col) {
  if (table.format == numerics::PackedFormat::Half) {
    return numerics::halfToFloat(table.half(row, col));
  }
  return table.scale(row, col / table.block) * float(table.code(row, col));
}

Tensor evaluate(EmbedOp op, std::span<const int32_t> ids,
                const numerics::PackedView &table) {
  Tensor result(int64_t(ids.size()), table.k);
  for (int64_t t = 0; t < result.rows; ++t) {
    for (int64_t i = 0; i < result.width; ++i) {
      result.row(t)[i] = element(table, ids[t], i);
    }
  }
  return result;
}

Tensor evaluate(RmsNormOp op, const Tensor &x, std::span<const float> weight) {
  Tensor result(x.rows, x.width);
  const float eps = op.getEps().convertToFloat();
  for (int64_t t = 0; t < x.rows; ++t) {
    numerics::WideAccumulator squares;
    for (float value : x.row(t)) {
      squares.add(value * value);
    }
    const float mean = squares.read() / float(x.width);
    const float r = 1.0f / sqrtf(mean + eps);
    for (int64_t i = 0; i < x.width; ++i) {
      result.row(t)[i] = (x.row(t)[i] * r) * weight[i];
    }
  }
  return result;
}

Tensor evaluate(AddOp op, const Tensor &a, const Tensor &b) {
  Tensor result(a.rows, a.width);
  for (size_t i = 0; i < result.values.size(); ++i) {
    result.values[i] = a.values[i] + b.values[i];
  }
  return result;
}

Tensor evaluate(GatedOp op, const Tensor &gate, const Tensor &up) {
  Tensor result(gate.rows, gate.width);
  for (size_t i = 0; i < result.values.size(); ++i) {
    result.values[i] = numerics::silu(gate.values[i]) * up.values[i];
  }
  return result;
}

std::vector<int32_t> evaluate(ArgmaxOp op, const Tensor &logits) {
  std::vector<int32_t> ids;
  for (int64_t t = 0; t < logits.rows; ++t) {
    ids.push_back(
        int32_t(numerics::argmax(logits.row(t).data(), logits.width)));
  }
  return ids;
}

/// The two elements that pair j of a head turns.
static std::pair<int64_t, int64_t> pairElements(RopeOp op, int64_t j) {
  if (op.getPairing() == RopePairing::Adjacent) {
    return {2 * j, 2 * j + 1};
  }
  return {j, j + op.getRopeDim() / 2};
}

Tensor evaluate(RopeOp op, const Tensor &x, int64_t position) {
  Tensor result = x;
  const int64_t pairs = op.getRopeDim() / 2;
  const numerics::RopeTable table = numerics::ropeTable(
      numerics::ropeFrequencies(int(op.getRopeDim()),
                                op.getTheta().convertToDouble()),
      position, x.rows);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t h = 0; h < op.getHeads(); ++h) {
      float *head = result.row(t).data() + h * op.getHeadDim();
      for (int64_t j = 0; j < pairs; ++j) {
        const auto [i0, i1] = pairElements(op, j);
        numerics::ropePair(head[i0], head[i1], table.cos[t * pairs + j],
                           table.sin[t * pairs + j]);
      }
    }
  }
  return result;
}

} // namespace orrery::llm
