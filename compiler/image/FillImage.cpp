// Weights and tables into the byte order that machine/Instruction.h fixes for
// installs and vectors.
#include "compiler/image/ImagePlan.h"

#include "machine/Timing.h"
#include "machine/numerics.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace orrery {

namespace {

/// A weight matrix in the form its tiles need.
struct Source {
  std::optional<models::QuantizedMatrix> quantized;
  std::vector<float> values; ///< F16 tiles
};

class Filler {
public:
  Filler(const Machine &machine, const models::WeightSource &weights,
         SramImage &image, ChipShare share)
      : m(machine), weights(weights), image(image), share(share) {}

  Status fill(const TileFill &fill);
  Status fill(const TableFill &fill);

private:
  Expected<const Source *> source(const TileFill &fill);
  uint8_t *tileVector(const TileFill &fill, uint32_t tile, uint32_t u) {
    uint32_t cycles = tileCycles(fill.format, fill.rowsPerTile, fill.width);
    return image.vector(int32_t(fill.place.getSlice() + u % fill.width),
                        int32_t(fill.place.getBank()),
                        fill.place.getBase() + tile * cycles + u / fill.width);
  }
  void quantizedRow(const TileFill &fill, const Source &source, uint32_t tile,
                    uint32_t inner, uint32_t row, int32_t from);
  void halfRow(const TileFill &fill, const Source &source, uint32_t tile,
               uint32_t inner, uint32_t row, int32_t from);
  void put(const TableFill &fill, uint32_t vector, uint32_t lane, float value);
  Status vocabularyTable(const TableFill &fill);
  void lookUpColumns(const TileFill &fill);
  static int64_t columnsOf(const TileFill &fill) {
    return fill.columnsOf > 0 ? int64_t(fill.columnsOf) : fill.columns.count();
  }
  /// The matrix's row in a lane of an output vector; -1 for padding.
  int32_t rowOf(const TileFill &fill, int32_t vector, int32_t lane) const;

  const Machine &m;
  const models::WeightSource &weights;
  SramImage &image;
  ChipShare share;
  std::string currentName;
  Source current;
  AxisLayout currentColumns;
  uint32_t currentColumnsOf = 0;
  std::vector<int32_t> columns; ///< [vectors][lanes], of currentColumns
};

Expected<const Source *> Filler::source(const TileFill &fill) {
  std::string name = tensorOfLayer(fill.tensor, share.layers);
  if (currentName == name) {
    return &current;
  }
  current = {};
  currentName = name;
  if (fill.format == WeightFormat::F16) {
    auto values = weights.vector(name);
    if (!values) {
      return values.error();
    }
    current.values = std::move(*values);
    return &current;
  }
  auto wanted = fill.format == WeightFormat::Q4 ? models::WeightFormat::Q4_0
                                                : models::WeightFormat::Q8_0;
  auto matrix = weights.matrix(name, wanted);
  if (!matrix) {
    return matrix.error();
  }
  if (matrix->format != wanted) {
    return Error{name + ": is stored in another format than the " +
                 "program was compiled for"};
  }
  int64_t rows = fill.shardOf > 0 ? fill.shardOf : fill.rows.elements;
  if (matrix->rows != rows || matrix->cols != columnsOf(fill)) {
    return Error{name + ": expected " + std::to_string(rows) + " x " +
                 std::to_string(columnsOf(fill)) + ", found " +
                 std::to_string(matrix->rows) + " x " +
                 std::to_string(matrix->cols)};
  }
  auto bad = std::ranges::find_if(
      matrix->scales, [](uint16_t half) { return (half & 0x7c00) == 0x7c00; });
  if (bad != matrix->scales.end()) {
    int64_t block = bad - matrix->scales.begin();
    return Error{name + ": expected finite scales, found " +
                 ((*bad & 0x3ff) != 0 ? "NaN" : "infinity") + " in row " +
                 std::to_string(block / matrix->blocksPerRow) + ", block " +
                 std::to_string(block % matrix->blocksPerRow)};
  }
  current.quantized = std::move(*matrix);
  return &current;
}

// One row of one tile: codes by lane, scales in the shared scale vectors.
// Padding keeps code 0 (nibble 8 in Q4) and scale 0.
void Filler::quantizedRow(const TileFill &fill, const Source &source,
                          uint32_t tile, uint32_t inner, uint32_t row,
                          int32_t from) {
  const models::QuantizedMatrix &matrix = *source.quantized;
  bool four = fill.format == WeightFormat::Q4;
  auto lanes = uint32_t(m.lanes);
  uint8_t *codes = tileVector(fill, tile, four ? row / 2 : row);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    int32_t column = from < 0 ? -1 : columns[inner * lanes + lane];
    int code = column < 0 ? 0
                          : matrix.codes[size_t(from) * size_t(32) *
                                             size_t(matrix.blocksPerRow) +
                                         size_t(column)];
    if (four) {
      auto nibble = uint8_t(code + 8);
      codes[lane] = row % 2 == 0
                        ? uint8_t((codes[lane] & 0xf0) | nibble)
                        : uint8_t((codes[lane] & 0x0f) | (nibble << 4));
    } else {
      codes[lane] = uint8_t(int8_t(code));
    }
  }
  uint32_t codeVectors = four ? fill.rowsPerTile / 2 : fill.rowsPerTile;
  uint8_t *scales = tileVector(fill, tile, codeVectors + row / 16);
  for (uint32_t block = 0; block < lanes / 32; ++block) {
    int32_t column = from < 0 ? -1 : columns[inner * lanes + block * 32];
    uint16_t scale =
        column < 0 ? 0
                   : matrix.scales[size_t(from) * size_t(matrix.blocksPerRow) +
                                   size_t(column / 32)];
    std::memcpy(scales + (row % 16) * (lanes / 16) + 2 * block, &scale, 2);
  }
}

void Filler::halfRow(const TileFill &fill, const Source &source, uint32_t tile,
                     uint32_t inner, uint32_t row, int32_t from) {
  for (uint32_t lane = 0; lane < uint32_t(m.lanes); ++lane) {
    int32_t column = from < 0 ? -1 : columns[inner * uint32_t(m.lanes) + lane];
    uint16_t half =
        column < 0 ? 0
                   : numerics::floatToHalf(
                         source.values[size_t(from) * size_t(columnsOf(fill)) +
                                       size_t(column)]);
    tileVector(fill, tile, 2 * row)[lane] = uint8_t(half);
    tileVector(fill, tile, 2 * row + 1)[lane] = uint8_t(half >> 8);
  }
}

// The same for every row of every tile.
void Filler::lookUpColumns(const TileFill &fill) {
  const AxisLayout &axis = fill.columns;
  if (axis == currentColumns && fill.columnsOf == currentColumnsOf) {
    return;
  }
  currentColumns = axis;
  currentColumnsOf = fill.columnsOf;
  columns.clear();
  int32_t first = fill.columnsOf > 0 ? share.rank * axis.elements : 0;
  for (int32_t j = 0; j < axis.vectors(); ++j) {
    for (int32_t lane = 0; lane < m.lanes; ++lane) {
      int32_t column = axis.source(j, lane, share.rank);
      bool none = column < 0 || column + first >= columnsOf(fill);
      columns.push_back(none ? -1 : column + first);
    }
  }
}

int32_t Filler::rowOf(const TileFill &fill, int32_t vector,
                      int32_t lane) const {
  int32_t row = fill.rows.source(vector, lane, share.rank);
  if (row < 0 || fill.shardOf == 0) {
    return row;
  }
  auto ranks = int32_t(fill.ofRanks);
  int32_t owner = ranks > 1
                      ? (share.rank - int32_t(fill.behind) + ranks) % ranks
                      : share.rank / int32_t(fill.replicas);
  row += owner * fill.rows.elements;
  return row < int32_t(fill.shardOf) ? row : -1;
}

Status Filler::fill(const TileFill &fill) {
  auto found = source(fill);
  if (!found) {
    return found.error();
  }
  lookUpColumns(fill);
  auto inner = uint32_t(fill.columns.vectors());
  for (uint32_t tile = 0; tile < fill.tiles; ++tile) {
    auto vector = int32_t(fill.first + tile / inner);
    for (uint32_t row = 0; row < fill.rowsPerTile; ++row) {
      int32_t from = rowOf(fill, vector, int32_t(fill.low + row));
      if (fill.format == WeightFormat::F16) {
        halfRow(fill, **found, tile, tile % inner, row, from);
      } else {
        quantizedRow(fill, **found, tile, tile % inner, row, from);
      }
    }
  }
  return Success{};
}

void Filler::put(const TableFill &fill, uint32_t vector, uint32_t lane,
                 float value) {
  uint8_t bytes[4];
  std::memcpy(bytes, &value, 4);
  for (uint32_t k = 0; k < 4; ++k) {
    image.vector(int32_t(fill.place.getSlice() + k),
                 int32_t(fill.place.getBank()),
                 fill.place.getBase() + vector)[lane] = bytes[k];
  }
}

// argmax.base: the rank's first index, in the lane where ArgMax leaves indices.
// argmax.mask: the lowest number for rows that the vocabulary does not have;
// not infinity, which a rank without any row would send as its best.
Status Filler::vocabularyTable(const TableFill &fill) {
  int64_t first = int64_t(share.rank) * fill.rows.elements;
  if (fill.tensor == "argmax.base") {
    for (uint32_t lane = 0; lane < uint32_t(m.lanes); ++lane) {
      put(fill, 0, lane,
          lane == 1 ? std::bit_cast<float>(uint32_t(first)) : 0.0f);
    }
    return Success{};
  }
  for (uint32_t v = 0; v < fill.vectors; ++v) {
    for (uint32_t lane = 0; lane < uint32_t(m.lanes); ++lane) {
      int32_t row = fill.rows.source(int32_t(v), int32_t(lane));
      bool real = row >= 0 && first + row < int64_t(fill.shardOf);
      put(fill, v, lane, real ? 0.0f : std::numeric_limits<float>::lowest());
    }
  }
  return Success{};
}

Status Filler::fill(const TableFill &fill) {
  if (fill.shardOf > 0) {
    return vocabularyTable(fill);
  }
  auto lanes = uint32_t(m.lanes);
  std::string name = tensorOfLayer(fill.tensor, share.layers);
  auto values = weights.vector(name);
  if (!values) {
    return values.error();
  }
  if (values->size() != size_t(fill.rows.count())) {
    return Error{name + ": expected " + std::to_string(fill.rows.count()) +
                 " values, found " + std::to_string(values->size())};
  }
  auto bad = std::ranges::find_if(
      *values, [](float value) { return !std::isfinite(value); });
  if (bad != values->end()) {
    return Error{name + ": expected finite values, found " +
                 (std::isnan(*bad) ? "NaN" : "infinity") + " at element " +
                 std::to_string(bad - values->begin())};
  }
  for (uint32_t v = 0; v < fill.vectors; ++v) {
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      int32_t from = fill.rows.source(int32_t(v), int32_t(lane), share.rank);
      put(fill, v, lane, from < 0 ? 0.0f : (*values)[size_t(from)]);
    }
  }
  return Success{};
}

} // namespace

std::string tensorOfLayer(const std::string &name, int64_t layers) {
  constexpr std::string_view kBlock = "blk.";
  size_t dot = name.find('.', kBlock.size());
  if (layers == 0 || !name.starts_with(kBlock) || dot == std::string::npos) {
    return name;
  }
  int64_t layer = 0;
  std::from_chars(name.data() + kBlock.size(), name.data() + dot, layer);
  return std::string(kBlock) + std::to_string(layer + layers) +
         name.substr(dot);
}

Status fillImage(const ImagePlan &plan, const Machine &machine,
                 const models::WeightSource &weights, SramImage &image,
                 ChipShare share) {
  Filler filler(machine, weights, image, share);
  for (const TileFill &fill : plan.tiles) {
    if (Status ok = filler.fill(fill); !ok) {
      return ok;
    }
  }
  for (const TableFill &fill : plan.tables) {
    if (Status ok = filler.fill(fill); !ok) {
      return ok;
    }
  }
  return Success{};
}

} // namespace orrery
