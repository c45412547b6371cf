// What each llm op computes, as functions of values.
//
// Plain loops over the definitions of machine/numerics.h in the order of the
// ops' formulas; only the matrix product uses the host kernels, whose bits are
// the same. A value that does not exist (an accumulator outside +-2^27, an f16
// that overflows) comes out as NaN, which the interpreter reports.
#pragma once

#include "dialects/llm/KvCache.h"
#include "dialects/llm/Llm.h"
#include "dialects/llm/Tensor.h"
#include "machine/kernels/PackedMatrix.h"
#include "machine/numerics.h"

#include <limits>
#include <span>
#include <vector>

namespace orrery::llm {

/// One exact accumulator; reads as NaN after an overflow.
class ExactSum {
public:
  void add(int64_t term) { inRange &= numerics::accumulate(sum, term); }

  float read() const {
    return inRange && numerics::accumulatorInRange(sum)
               ? numerics::readAccumulator(sum)
               : std::numeric_limits<float>::quiet_NaN();
  }

private:
  int64_t sum = 0;
  bool inRange = true;
};

/// Every id must be in 0 .. vocab-1.
Tensor evaluate(EmbedOp op, std::span<const int32_t> ids,
                const numerics::PackedView &table);

Tensor evaluate(RmsNormOp op, const Tensor &x, std::span<const float> weight);

Tensor evaluate(LinearOp op, const Tensor &x,
                const numerics::PackedView &weight);

/// `position` is that of row 0.
Tensor evaluate(RopeOp op, const Tensor &x, int64_t position);

/// Puts k and v at `position` and behind, then attends.
Tensor evaluate(AttentionOp op, const Tensor &q, const Tensor &k,
                const Tensor &v, LayerCache &cache, int64_t position);

Tensor evaluate(AddOp op, const Tensor &a, const Tensor &b);

Tensor evaluate(GatedOp op, const Tensor &gate, const Tensor &up);

/// One id a row.
std::vector<int32_t> evaluate(ArgmaxOp op, const Tensor &logits);

} // namespace orrery::llm
