#include "machine/kernels/Activations.h"

#include "machine/kernels/Rows.h"
#include "machine/numerics.h"

#include <cassert>

namespace orrery::numerics {

A8View A8View::sliceK(int64_t firstK, int64_t length) const {
  assert(firstK % kBlock == 0 && firstK + length <= k);
  A8View part = *this;
  part.k = length;
  part.codes += firstK;
  part.scales += firstK / kBlock;
  return part;
}

A8View A8View::sliceRows(int64_t first, int64_t count) const {
  assert(first + count <= rows);
  A8View part = *this;
  part.rows = count;
  part.codes += first * codeStride;
  part.scales += first * scaleStride;
  return part;
}

A8Matrix::A8Matrix(int64_t rows, int64_t k) {
  shape.rows = rows;
  shape.k = k;
  shape.scaleStride = (k + kBlock - 1) / kBlock;
  shape.codeStride = shape.scaleStride * kBlock;
  codes.resize(size_t(rows * shape.codeStride));
  scales.resize(size_t(rows * shape.scaleStride));
}

bool A8Matrix::quantize(const float *x, int64_t stride) {
  bool finite = true;
  for (int64_t row = 0; row < shape.rows; ++row) {
    finite &= quantizeA8Row(x + row * stride, shape.k,
                            codes.data() + row * shape.codeStride,
                            scales.data() + row * shape.scaleStride);
  }
  return finite;
}

A8View A8Matrix::view() const {
  A8View view = shape;
  view.codes = codes.data();
  view.scales = scales.data();
  return view;
}

} // namespace orrery::numerics
