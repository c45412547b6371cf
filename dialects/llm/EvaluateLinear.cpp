// The meaning of llm.linear, by the host kernels.
#include "dialects/llm/Evaluate.h"

#include "machine/kernels/Activations.h"
#include "machine/kernels/Gemv.h"

#include <algorithm>

namespace orrery::llm {

/// result = readout of `product(t, count, acc)`, which adds rows t .. t+count-1
/// of the product to acc [count, width] and tells whether all is in range.
/// Rows that overflow become NaN.
template <class Product>
static void readProduct(Tensor &result, Product product) {
  std::vector<int64_t> acc(result.values.size());
  if (product(0, result.rows, acc.data()) &&
      numerics::readAccumulators(acc.data(), int64_t(acc.size()),
                                 result.values.data())) {
    return;
  }
  std::fill(acc.begin(), acc.end(), 0);
  for (int64_t t = 0; t < result.rows; ++t) {
    int64_t *sums = acc.data() + t * result.width;
    if (!product(t, 1, sums) ||
        !numerics::readAccumulators(sums, result.width, result.row(t).data())) {
      std::ranges::fill(result.row(t), std::numeric_limits<float>::quiet_NaN());
    }
  }
}

static void multiplyHalves(const Tensor &x, const numerics::PackedView &weight,
                           Tensor &result) {
  Tensor halves(x.rows, x.width);
  std::ranges::transform(x.values, halves.values.begin(),
                         numerics::roundToHalf);
  readProduct(result, [&](int64_t t, int64_t count, int64_t *acc) {
    const numerics::FloatView rows{count, x.width, halves.row(t).data(),
                                   x.width};
    return numerics::gemvHalf(weight, rows, acc, result.width);
  });
}

static void multiplyCodes(const Tensor &x, const numerics::PackedView &weight,
                          Tensor &result) {
  numerics::A8Matrix codes(x.rows, x.width);
  const bool finite = codes.quantize(x.values.data(), x.width);
  assert(finite && "every operand has been checked");
  (void)finite;
  readProduct(result, [&](int64_t t, int64_t count, int64_t *acc) {
    return numerics::gemvExact(weight, codes.view().sliceRows(t, count), acc,
                               result.width);
  });
}

Tensor evaluate(LinearOp op, const Tensor &x,
                const numerics::PackedView &weight) {
  Tensor result(x.rows, weight.rows);
  if (op.getFormat() == WeightFormat::F16) {
    multiplyHalves(x, weight, result);
  } else {
    multiplyCodes(x, weight, result);
  }
  return result;
}

} // namespace orrery::llm
