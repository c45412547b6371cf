#include "machine/kernels/PackedMatrix.h"

#include "machine/numerics.h"

#include <cassert>
#include <cstring>

namespace orrery::numerics {
namespace {

constexpr int64_t kLineBytes = 4 * kGroupRows;

/// Elements of k one 64-byte line covers, integer formats.
int64_t elementsPerLine(PackedFormat format) {
  return format == PackedFormat::Q4 ? 8 : 4;
}

/// Offset of the byte that holds a code (or of the uint16 of a half).
int64_t byteOffset(const PackedView &view, int64_t row, int64_t column) {
  const int64_t group = row / kGroupRows * view.groupBytes;
  const int64_t lane = row % kGroupRows;
  if (view.format == PackedFormat::Half) {
    return group + (column * kGroupRows + lane) * 2;
  }
  const int64_t line = column / elementsPerLine(view.format);
  return group + line * kLineBytes + lane * 4 + column % 4;
}

bool highNibble(int64_t column) { return column % 8 >= 4; }

int64_t scaleOffset(const PackedView &view, int64_t row, int64_t blockIndex) {
  return row / kGroupRows * view.groupScales + blockIndex * kGroupRows +
         row % kGroupRows;
}

} // namespace

//===-- PackedView --------------------------------------------------------===//

PackedView PackedView::slice(int64_t firstRow, int64_t count, int64_t firstK,
                             int64_t length) const {
  assert(firstRow % kGroupRows == 0 && firstK % kBlock == 0);
  assert(firstRow + count <= rows && firstK + length <= k);
  PackedView part = *this;
  part.rows = count;
  part.k = length;
  part.codes += byteOffset(*this, firstRow, firstK);
  const int64_t scalesBefore = scaleOffset(*this, firstRow, firstK / block);
  part.halfScales += halfScales != nullptr ? scalesBefore : 0;
  part.scales += scales != nullptr ? scalesBefore : 0;
  part.mins += mins != nullptr ? scalesBefore : 0;
  return part;
}

int32_t PackedView::code(int64_t row, int64_t column) const {
  const int32_t byte = codes[byteOffset(*this, row, column)];
  if (format == PackedFormat::Q4) {
    return (highNibble(column) ? byte >> 4 : byte & 15) - 8;
  }
  return byte - 128;
}

float PackedView::scale(int64_t row, int64_t blockIndex) const {
  if (format == PackedFormat::Codes8) {
    return 1.0f;
  }
  const int64_t at = scaleOffset(*this, row, blockIndex);
  return format == PackedFormat::Affine8 ? scales[at]
                                         : halfToFloat(halfScales[at]);
}

float PackedView::min(int64_t row, int64_t blockIndex) const {
  return mins[scaleOffset(*this, row, blockIndex)];
}

uint16_t PackedView::half(int64_t row, int64_t column) const {
  uint16_t bits;
  std::memcpy(&bits, codes + byteOffset(*this, row, column), sizeof(bits));
  return bits;
}

//===-- PackedMatrix ------------------------------------------------------===//

PackedMatrix::PackedMatrix(PackedFormat format, int64_t rows, int64_t k,
                           int block, bool withMins) {
  assert(block == 32 || (block == 16 && format == PackedFormat::Affine8));
  shape.format = format;
  shape.block = block;
  shape.rows = rows;
  shape.k = k;
  const bool isHalf = format == PackedFormat::Half;
  const bool isQ4 = format == PackedFormat::Q4;
  const int64_t padded = shape.blocks() * block;
  const int64_t bytesPerRow = isHalf ? 2 * k : isQ4 ? padded / 2 : padded;
  shape.groupBytes = bytesPerRow * kGroupRows;
  const int64_t bytes = shape.groups() * shape.groupBytes;
  codes.resize(size_t((bytes + kLineBytes - 1) / kLineBytes));
  if (bytes != 0) {
    std::memset(codeBytes(),
                isHalf ? 0
                : isQ4 ? 0x88
                       : 0x80,
                codes.size() * sizeof(Line));
  }
  if (isHalf || format == PackedFormat::Codes8) {
    return;
  }
  shape.groupScales = shape.blocks() * kGroupRows;
  const size_t count = size_t(shape.groups() * shape.groupScales);
  if (format == PackedFormat::Affine8) {
    scales.resize(count);
    mins.resize(withMins ? count : 0);
  } else {
    halfScales.resize(count);
  }
}

int64_t PackedMatrix::scaleIndex(int64_t row, int64_t blockIndex) const {
  assert(row < shape.rows && blockIndex < shape.blocks());
  return scaleOffset(shape, row, blockIndex);
}

void PackedMatrix::setCode(int64_t row, int64_t column, int32_t q) {
  assert(row < shape.rows && column < shape.k);
  uint8_t &byte = codeBytes()[byteOffset(shape, row, column)];
  if (shape.format != PackedFormat::Q4) {
    assert(q >= -128 && q <= 127);
    byte = uint8_t(q + 128);
    return;
  }
  assert(q >= -8 && q <= 7);
  byte = highNibble(column) ? uint8_t((byte & 0x0f) | (q + 8) << 4)
                            : uint8_t((byte & 0xf0) | (q + 8));
}

void PackedMatrix::setHalfScale(int64_t row, int64_t blockIndex, uint16_t d) {
  halfScales[size_t(scaleIndex(row, blockIndex))] = d;
}

void PackedMatrix::setScale(int64_t row, int64_t blockIndex, float s) {
  scales[size_t(scaleIndex(row, blockIndex))] = s;
}

void PackedMatrix::setMin(int64_t row, int64_t blockIndex, float m) {
  mins[size_t(scaleIndex(row, blockIndex))] = m;
}

void PackedMatrix::setHalf(int64_t row, int64_t column, uint16_t bits) {
  assert(row < shape.rows && column < shape.k);
  std::memcpy(codeBytes() + byteOffset(shape, row, column), &bits,
              sizeof(bits));
}

PackedView PackedMatrix::view() const {
  PackedView view = shape;
  view.codes = codes.empty() ? nullptr : codes[0].byte;
  view.halfScales = halfScales.empty() ? nullptr : halfScales.data();
  view.scales = scales.empty() ? nullptr : scales.data();
  view.mins = mins.empty() ? nullptr : mins.data();
  return view;
}

int64_t PackedMatrix::bytes() const {
  return shape.groups() * shape.groupBytes + int64_t(halfScales.size()) * 2 +
         int64_t(scales.size() + mins.size()) * 4;
}

//===-- Packing -----------------------------------------------------------===//

PackedMatrix PackedMatrix::packQ8(int64_t rows, int64_t k, const int8_t *codes,
                                  const uint16_t *scales) {
  PackedMatrix m(PackedFormat::Q8, rows, k);
  const int64_t blocks = m.shape.blocks();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      m.setCode(row, i, codes[row * k + i]);
    }
    for (int64_t b = 0; b < blocks; ++b) {
      m.setHalfScale(row, b, scales[row * blocks + b]);
    }
  }
  return m;
}

PackedMatrix PackedMatrix::packQ4(int64_t rows, int64_t k, const uint8_t *codes,
                                  const uint16_t *scales) {
  PackedMatrix m(PackedFormat::Q4, rows, k);
  const int64_t blocks = m.shape.blocks();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      m.setCode(row, i, int32_t(codes[row * k + i]) - 8);
    }
    for (int64_t b = 0; b < blocks; ++b) {
      m.setHalfScale(row, b, scales[row * blocks + b]);
    }
  }
  return m;
}

PackedMatrix PackedMatrix::packCodes8(int64_t rows, int64_t k,
                                      const int8_t *codes) {
  PackedMatrix m(PackedFormat::Codes8, rows, k);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      m.setCode(row, i, codes[row * k + i]);
    }
  }
  return m;
}

PackedMatrix PackedMatrix::packAffine8(int64_t rows, int64_t k, int block,
                                       const int8_t *codes, const float *scales,
                                       const float *mins) {
  PackedMatrix m(PackedFormat::Affine8, rows, k, block, mins != nullptr);
  const int64_t blocks = m.shape.blocks();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      m.setCode(row, i, codes[row * k + i]);
    }
    for (int64_t b = 0; b < blocks; ++b) {
      m.setScale(row, b, scales[row * blocks + b]);
      if (mins != nullptr) {
        m.setMin(row, b, mins[row * blocks + b]);
      }
    }
  }
  return m;
}

PackedMatrix PackedMatrix::packHalf(int64_t rows, int64_t k,
                                    const uint16_t *values) {
  PackedMatrix m(PackedFormat::Half, rows, k);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      m.setHalf(row, i, values[row * k + i]);
    }
  }
  return m;
}

} // namespace orrery::numerics
