#include "simulator/function/PackedTile.h"

#include "machine/numerics.h"

#include <algorithm>
#include <cstring>

namespace orrery::sim {
namespace {

using numerics::kBlock;
using numerics::kGroupRows;

/// Bytes of one row's codes.
size_t rowBytes(WeightFormat format, int32_t lanes) {
  switch (format) {
  case WeightFormat::Q4:
    return size_t(lanes) / 2;
  case WeightFormat::F16:
    return size_t(lanes) * 2;
  default:
    return size_t(lanes);
  }
}

uint32_t word(const uint8_t *at) {
  uint32_t w;
  std::memcpy(&w, at, sizeof(w));
  return w;
}

void putWord(uint8_t *at, uint32_t w) { std::memcpy(at, &w, sizeof(w)); }

} // namespace

void PackedTile::pack(WeightFormat newFormat, int32_t newRows, int32_t newLanes,
                      const std::vector<const uint8_t *> &vectors) {
  format = newFormat;
  rows = newRows;
  lanes = newLanes;
  groupBytes = rowBytes(format, lanes) * kGroupRows;
  scales.clear();
  size_t groups = size_t((rows + kGroupRows - 1) / kGroupRows);
  codes.resize(groups * groupBytes / sizeof(Line));
  switch (format) {
  case WeightFormat::Q8:
    packBytes(vectors);
    packScales(vectors.data() + rows);
    break;
  case WeightFormat::Q4:
    packNibbles(vectors);
    packScales(vectors.data() + rows / 2);
    break;
  case WeightFormat::I8:
    packBytes(vectors);
    break;
  case WeightFormat::F16:
    packHalves(vectors);
    break;
  }
}

/// Per 4 elements of k: [16 rows][4] bytes, q + 128. A group's lines are
/// written one after another.
void PackedTile::packBytes(const std::vector<const uint8_t *> &vectors) {
  for (int32_t first = 0; first < rows; first += kGroupRows) {
    int32_t count = std::min(kGroupRows, rows - first);
    const uint8_t *const *from = vectors.data() + first;
    uint8_t *line = group(first);
    for (int32_t i = 0; i < lanes; i += 4, line += 4 * kGroupRows) {
      for (int32_t r = 0; r < count; ++r) {
        putWord(line + 4 * r, word(from[r] + i) ^ 0x80808080u);
      }
    }
  }
}

/// Per 8 elements of k: [16 rows][4] bytes, element j low, 4 + j high nibble.
/// The two rows of a vector hold code + 8 just as the kernels want it.
void PackedTile::packNibbles(const std::vector<const uint8_t *> &vectors) {
  for (int32_t r = 0; r < rows; ++r) {
    const uint8_t *from = vectors[size_t(r / 2)];
    int shift = r % 2 == 0 ? 0 : 4;
    uint8_t *to = group(r) + (r % kGroupRows) * 4;
    for (int32_t i = 0; i < lanes; i += 8) {
      uint32_t low = (word(from + i) >> shift) & 0x0f0f0f0fu;
      uint32_t high = (word(from + i + 4) >> shift) & 0x0f0f0f0fu;
      putWord(to + size_t(i) / 2 * kGroupRows, low | high << 4);
    }
  }
}

/// Per element of k: [16 rows] uint16.
void PackedTile::packHalves(const std::vector<const uint8_t *> &vectors) {
  for (int32_t r = 0; r < rows; ++r) {
    const uint8_t *low = vectors[size_t(2 * r)];
    const uint8_t *high = vectors[size_t(2 * r + 1)];
    uint8_t *to = group(r) + (r % kGroupRows) * 2;
    for (int32_t i = 0; i < lanes; ++i) {
      to[size_t(i) * kGroupRows * 2] = low[i];
      to[size_t(i) * kGroupRows * 2 + 1] = high[i];
    }
  }
}

/// Scale vector g: rows 16g .. 16g+15, row r's block b in bytes
/// (r % 16) * lanes/16 + 2b; packed as [block][16 rows] a group.
void PackedTile::packScales(const uint8_t *const *vectors) {
  size_t blocks = size_t(lanes / kBlock);
  scales.resize(size_t(rows / kGroupRows) * blocks * kGroupRows);
  for (int32_t r = 0; r < rows; ++r) {
    const uint8_t *from =
        vectors[r / kGroupRows] + size_t(r % kGroupRows) * size_t(lanes) / 16;
    uint16_t *to = scales.data() +
                   size_t(r / kGroupRows) * blocks * kGroupRows +
                   r % kGroupRows;
    for (size_t b = 0; b < blocks; ++b) {
      std::memcpy(to + b * kGroupRows, from + 2 * b, sizeof(uint16_t));
    }
  }
}

numerics::PackedView PackedTile::view() const {
  numerics::PackedView v;
  v.format = format == WeightFormat::Q8   ? numerics::PackedFormat::Q8
             : format == WeightFormat::Q4 ? numerics::PackedFormat::Q4
             : format == WeightFormat::I8 ? numerics::PackedFormat::Codes8
                                          : numerics::PackedFormat::Half;
  v.rows = rows;
  v.k = lanes;
  v.codes = codes[0].byte;
  v.halfScales = scales.empty() ? nullptr : scales.data();
  v.groupBytes = int64_t(groupBytes);
  v.groupScales = scales.empty() ? 0 : int64_t(lanes / kBlock) * kGroupRows;
  return v;
}

} // namespace orrery::sim
