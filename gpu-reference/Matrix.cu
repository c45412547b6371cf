#include "gpu-reference/Matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery::gpu::ORRERY_GPU {

namespace {

using numerics::kBlock;

/// Kernels count rows and columns in 24 bits, as faults do.
constexpr int64_t kMaxExtent = int64_t(1) << 24;

int32_t paddedBlocks(int64_t k) {
  const int64_t blocks = (k + kBlock - 1) / kBlock;
  return int32_t((blocks + kBlockGroup - 1) / kBlockGroup * kBlockGroup);
}

/// The shape alone.
MatrixBytes shaped(MatrixFormat format, int64_t rows, int64_t k,
                   uint8_t filler) {
  MatrixBytes bytes;
  MatrixView &shape = bytes.shape;
  shape.format = format;
  shape.rows = int32_t(rows);
  shape.k = int32_t(k);
  shape.scaleStride = paddedBlocks(k);
  const int64_t blockBytes = format == MatrixFormat::F16    ? 2 * kBlock
                             : format == MatrixFormat::Q8_0 ? kBlock
                                                            : kBlock / 2;
  shape.rowBytes = shape.scaleStride * blockBytes;
  bytes.codes.assign(size_t(rows * shape.rowBytes), filler);
  if (format != MatrixFormat::F16) {
    const auto scale = uint16_t(filler * 0x101);
    bytes.scales.assign(size_t(rows) * size_t(shape.scaleStride), scale);
  }
  return bytes;
}

/// 2^26 over the greatest sum of a row's magnitudes: half of the range is left
/// for the rounding of the terms.
float limitFor(double greatestRow) {
  const double limit = 0x1p26 / greatestRow;
  if (!(limit >= 0)) { // NaN
    return 0;
  }
  const double greatest = std::numeric_limits<float>::max();
  return float(std::min(limit, greatest) * (1 - 0x1p-20));
}

/// fmax that keeps a NaN.
double greater(double a, double b) { return a >= b || a != a ? a : b; }

/// The 32 codes of a block, see MatrixView.
void setCodes(MatrixBytes &bytes, int64_t row, int64_t block,
              const int8_t *codes) {
  uint8_t *line = bytes.codes.data() + row * bytes.shape.rowBytes;
  if (bytes.shape.format == MatrixFormat::Q8_0) {
    for (int half = 0; half < 2; ++half) {
      const int64_t at =
          (block / kBlockGroup * 2 + half) * kBlockGroup + block % kBlockGroup;
      std::copy_n(codes + half * 16, 16, line + at * 16);
    }
    return;
  }
  for (int i = 0; i < kBlock / 2; ++i) {
    const int8_t *pair = codes + i / 4 * 8 + i % 4;
    line[block * 16 + i] = uint8_t((pair[0] & 0xf) | (uint8_t(pair[4]) << 4));
  }
}

Error unsupported(std::string_view what, int64_t rows, int64_t k) {
  return Error{std::string(what) + ": unsupported shape [" +
               std::to_string(rows) + ", " + std::to_string(k) +
               "], expected 1 to " + std::to_string(kMaxExtent - 1) +
               " rows and columns"};
}

bool supported(int64_t rows, int64_t k) {
  return rows > 0 && k > 0 && rows < kMaxExtent && k < kMaxExtent;
}

} // namespace

MatrixBytes MatrixBytes::pack(const models::QuantizedMatrix &matrix,
                              uint8_t filler) {
  const bool wide = matrix.format == models::WeightFormat::Q8_0;
  MatrixBytes bytes = shaped(wide ? MatrixFormat::Q8_0 : MatrixFormat::Q4_0,
                             matrix.rows, matrix.cols, filler);
  // Greatest sum of 32 products of codes: weights of -128 or -8, activations
  // of 127.
  const double dot = kBlock * 127.0 * (wide ? 128 : 8);
  double greatestRow = 0;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    double sum = 0;
    for (int64_t b = 0; b < matrix.blocksPerRow; ++b) {
      const int64_t from = row * matrix.blocksPerRow + b;
      const uint16_t scale = matrix.scales[from];
      setCodes(bytes, row, b, &matrix.codes[size_t(from * kBlock)]);
      bytes.scales[row * bytes.shape.scaleStride + b] = scale;
      sum += dot * std::fabs(double(numerics::halfToFloat(scale)));
    }
    greatestRow = greater(greatestRow, sum);
  }
  bytes.shape.activationLimit = limitFor(greatestRow);
  return bytes;
}

MatrixBytes MatrixBytes::packHalves(int64_t rows, int64_t k,
                                    std::span<const float> values,
                                    uint8_t filler) {
  MatrixBytes bytes = shaped(MatrixFormat::F16, rows, k, filler);
  const int64_t written = (k + kBlock - 1) / kBlock * kBlock;
  double greatestRow = 0;
  for (int64_t row = 0; row < rows; ++row) {
    auto *line = reinterpret_cast<uint16_t *>(bytes.codes.data() +
                                              row * bytes.shape.rowBytes);
    double sum = 0;
    for (int64_t i = 0; i < written; ++i) {
      line[i] = i < k ? numerics::floatToHalf(values[row * k + i]) : 0;
      sum += std::fabs(double(numerics::halfToFloat(line[i])));
    }
    greatestRow = greater(greatestRow, sum);
  }
  bytes.shape.activationLimit = limitFor(greatestRow);
  return bytes;
}

Expected<DeviceMatrix> DeviceMatrix::upload(const MatrixBytes &bytes,
                                            std::string_view what) {
  DeviceMatrix matrix;
  matrix.shape = bytes.shape;
  const std::string name(what);
  auto codes = Buffer<uint8_t>::copyOf(bytes.codes, name);
  if (!codes) {
    return codes.error();
  }
  auto scales = Buffer<uint16_t>::copyOf(bytes.scales, name + " (scales)");
  if (!scales) {
    return scales.error();
  }
  matrix.codes = std::move(*codes);
  matrix.scales = std::move(*scales);
  return Expected<DeviceMatrix>(std::move(matrix));
}

Expected<DeviceMatrix>
DeviceMatrix::upload(const models::QuantizedMatrix &matrix,
                     std::string_view what) {
  if (!supported(matrix.rows, matrix.cols)) {
    return unsupported(what, matrix.rows, matrix.cols);
  }
  return upload(MatrixBytes::pack(matrix), what);
}

Expected<DeviceMatrix> DeviceMatrix::uploadHalves(int64_t rows, int64_t k,
                                                  std::span<const float> values,
                                                  std::string_view what) {
  if (!supported(rows, k)) {
    return unsupported(what, rows, k);
  }
  if (int64_t(values.size()) != rows * k) {
    return Error{std::string(what) + ": expected " + std::to_string(rows * k) +
                 " values, found " + std::to_string(values.size())};
  }
  return upload(MatrixBytes::packHalves(rows, k, values), what);
}

MatrixView DeviceMatrix::view() const {
  MatrixView view = shape;
  view.codes = codes.data();
  view.scales = scales.data();
  return view;
}

} // namespace orrery::gpu::ORRERY_GPU
