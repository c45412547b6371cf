// From a model's weights to packed matrices.
#include "dialects/llm/WeightCache.h"

#include "machine/numerics.h"

using orrery::numerics::PackedMatrix;

namespace orrery::llm {

static std::string shapeText(int64_t rows, int64_t cols) {
  return "[" + std::to_string(rows) + ", " + std::to_string(cols) + "]";
}

static Error wrongShape(const std::string &name, const std::string &expected,
                        const std::string &found) {
  return Error{name + ": expected shape " + expected + ", found " + found};
}

/// Codes [rows, cols] without the padding of each row's last block, plus
/// `bias`.
template <class Code>
static std::vector<Code> compactCodes(const models::QuantizedMatrix &matrix,
                                      int bias) {
  std::vector<Code> codes;
  codes.reserve(matrix.rows * matrix.cols);
  const int64_t stride = matrix.blocksPerRow * numerics::kBlock;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t col = 0; col < matrix.cols; ++col) {
      codes.push_back(Code(matrix.codes[row * stride + col] + bias));
    }
  }
  return codes;
}

static PackedMatrix pack(const models::QuantizedMatrix &matrix) {
  if (matrix.format == models::WeightFormat::Q8_0) {
    return PackedMatrix::packQ8(matrix.rows, matrix.cols,
                                compactCodes<int8_t>(matrix, 0).data(),
                                matrix.scales.data());
  }
  return PackedMatrix::packQ4(matrix.rows, matrix.cols,
                              compactCodes<uint8_t>(matrix, 8).data(),
                              matrix.scales.data());
}

static Expected<PackedMatrix> loadHalves(const models::WeightSource &source,
                                         const std::string &name, int64_t rows,
                                         int64_t cols) {
  Expected<std::vector<float>> values = source.vector(name);
  if (!values) {
    return values.error();
  }
  if (int64_t(values->size()) != rows * cols) {
    return wrongShape(name, shapeText(rows, cols),
                      std::to_string(values->size()) + " elements");
  }
  std::vector<uint16_t> halves;
  for (float value : *values) {
    halves.push_back(numerics::floatToHalf(value));
  }
  return PackedMatrix::packHalf(rows, cols, halves.data());
}

static Expected<PackedMatrix> loadQuantized(const models::WeightSource &source,
                                            const std::string &name,
                                            models::WeightFormat format,
                                            int64_t rows, int64_t cols) {
  Expected<models::QuantizedMatrix> matrix = source.matrix(name, format);
  if (!matrix) {
    return matrix.error();
  }
  if (matrix->rows != rows || matrix->cols != cols) {
    return wrongShape(name, shapeText(rows, cols),
                      shapeText(matrix->rows, matrix->cols));
  }
  if (matrix->format != format) {
    return Error{name + ": expected format " +
                 std::string(models::weightFormatName(format)) + ", found " +
                 std::string(models::weightFormatName(matrix->format))};
  }
  return pack(*matrix);
}

Expected<PackedMatrix> WeightCache::load(const std::string &name,
                                         WeightFormat format, int64_t rows,
                                         int64_t cols) {
  switch (format) {
  case WeightFormat::Q8_0:
    return loadQuantized(source, name, models::WeightFormat::Q8_0, rows, cols);
  case WeightFormat::Q4_0:
    return loadQuantized(source, name, models::WeightFormat::Q4_0, rows, cols);
  case WeightFormat::F16:
    return loadHalves(source, name, rows, cols);
  }
  return Error{name + ": unknown weight format"};
}

Expected<numerics::PackedView> WeightCache::matrix(const std::string &name,
                                                   WeightFormat format,
                                                   int64_t rows, int64_t cols) {
  auto found = matrices.find({name, format});
  if (found == matrices.end()) {
    Expected<PackedMatrix> loaded = load(name, format, rows, cols);
    if (!loaded) {
      return loaded.error();
    }
    found = matrices.emplace(std::pair(name, format), std::move(*loaded)).first;
  }
  const numerics::PackedView view = found->second.view();
  if (view.rows != rows || view.k != cols) {
    return wrongShape(name, shapeText(rows, cols),
                      shapeText(view.rows, view.k));
  }
  return view;
}

Expected<const std::vector<float> *>
WeightCache::vector(const std::string &name, int64_t size) {
  auto found = vectors.find(name);
  if (found == vectors.end()) {
    Expected<std::vector<float>> loaded = source.vector(name);
    if (!loaded) {
      return loaded.error();
    }
    found = vectors.emplace(name, std::move(*loaded)).first;
  }
  if (int64_t(found->second.size()) != size) {
    return wrongShape(name, "[" + std::to_string(size) + "]",
                      "[" + std::to_string(found->second.size()) + "]");
  }
  return &found->second;
}

} // namespace orrery::llm
