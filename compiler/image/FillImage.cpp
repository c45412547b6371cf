// Weights and tables into the byte order that machine/Instruction.h fixes for
// installs and vectors.
#include "compiler/image/ImagePlan.h"

#include "machine/Timing.h"
#include "machine/numerics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
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
         SramImage &image)
      : m(machine), weights(weights), image(image) {}

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

  const Machine &m;
  const models::WeightSource &weights;
  SramImage &image;
  std::string currentName;
  Source current;
};

Expected<const Source *> Filler::source(const TileFill &fill) {
  if (currentName == fill.tensor) {
    return &current;
  }
  current = {};
  currentName = fill.tensor;
  if (fill.format == WeightFormat::F16) {
    auto values = weights.vector(fill.tensor);
    if (!values) {
      return values.error();
    }
    current.values = std::move(*values);
    return &current;
  }
  auto wanted = fill.format == WeightFormat::Q4 ? models::WeightFormat::Q4_0
                                                : models::WeightFormat::Q8_0;
  auto matrix = weights.matrix(fill.tensor, wanted);
  if (!matrix) {
    return matrix.error();
  }
  if (matrix->format != wanted) {
    return Error{fill.tensor + ": is stored in another format than the " +
                 "program was compiled for"};
  }
  if (matrix->rows != fill.rows.elements ||
      matrix->cols != fill.columns.elements) {
    return Error{
        fill.tensor + ": expected " + std::to_string(fill.rows.elements) +
        " x " + std::to_string(fill.columns.elements) + ", found " +
        std::to_string(matrix->rows) + " x " + std::to_string(matrix->cols)};
  }
  auto bad = std::ranges::find_if(
      matrix->scales, [](uint16_t half) { return (half & 0x7c00) == 0x7c00; });
  if (bad != matrix->scales.end()) {
    int64_t block = bad - matrix->scales.begin();
    return Error{fill.tensor + ": expected finite scales, found " +
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
    int32_t column =
        from < 0 ? -1 : fill.columns.source(int32_t(inner), int32_t(lane));
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
    int32_t column =
        from < 0 ? -1
                 : fill.columns.source(int32_t(inner), int32_t(block * 32));
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
    int32_t column =
        from < 0 ? -1 : fill.columns.source(int32_t(inner), int32_t(lane));
    uint16_t half =
        column < 0
            ? 0
            : numerics::floatToHalf(
                  source.values[size_t(from) * size_t(fill.columns.elements) +
                                size_t(column)]);
    tileVector(fill, tile, 2 * row)[lane] = uint8_t(half);
    tileVector(fill, tile, 2 * row + 1)[lane] = uint8_t(half >> 8);
  }
}

Status Filler::fill(const TileFill &fill) {
  auto found = source(fill);
  if (!found) {
    return found.error();
  }
  auto inner = uint32_t(fill.columns.vectors());
  for (uint32_t tile = 0; tile < fill.tiles; ++tile) {
    auto vector = int32_t(fill.first + tile / inner);
    for (uint32_t row = 0; row < fill.rowsPerTile; ++row) {
      int32_t from = fill.rows.source(vector, int32_t(fill.low + row));
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

// RoPE: row = position; each slot's elements get the cosine and the signed sine
// of their pair, elements that do not turn 1 and 0.
static float ropeEntry(const TableFill &fill, const numerics::RopeTable &row,
                       int32_t d, bool cosine) {
  if (d >= fill.ropeDim) {
    return cosine ? 1.0f : 0.0f;
  }
  int32_t half = fill.ropeDim / 2;
  int32_t pair = fill.ropeHalf ? d % half : d / 2;
  bool first = fill.ropeHalf ? d < half : d % 2 == 0;
  float sine = row.sin[size_t(pair)];
  return cosine ? row.cos[size_t(pair)] : first ? -sine : sine;
}

Status Filler::fill(const TableFill &fill) {
  auto lanes = uint32_t(m.lanes);
  if (fill.tensor == "rope.cos" || fill.tensor == "rope.sin") {
    auto frequencies = numerics::ropeFrequencies(fill.ropeDim, fill.ropeTheta);
    bool cosine = fill.tensor == "rope.cos";
    for (uint32_t p = 0; p < fill.vectors; ++p) {
      auto row = numerics::ropeTable(frequencies, int64_t(p), 1);
      for (uint32_t lane = 0; lane < lanes; ++lane) {
        int32_t slot = fill.rows.slot();
        int32_t d = int32_t(lane) % slot;
        bool used =
            int32_t(lane) / slot < fill.rows.slots() && d < fill.rows.headDim;
        put(fill, p, lane, used ? ropeEntry(fill, row, d, cosine) : 0.0f);
      }
    }
    return Success{};
  }
  auto values = weights.vector(fill.tensor);
  if (!values) {
    return values.error();
  }
  if (values->size() != size_t(fill.rows.elements)) {
    return Error{fill.tensor + ": expected " +
                 std::to_string(fill.rows.elements) + " values, found " +
                 std::to_string(values->size())};
  }
  auto bad = std::ranges::find_if(
      *values, [](float value) { return !std::isfinite(value); });
  if (bad != values->end()) {
    return Error{fill.tensor + ": expected finite values, found " +
                 (std::isnan(*bad) ? "NaN" : "infinity") + " at element " +
                 std::to_string(bad - values->begin())};
  }
  for (uint32_t v = 0; v < fill.vectors; ++v) {
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      int32_t from = fill.rows.source(int32_t(v), int32_t(lane));
      put(fill, v, lane, from < 0 ? 0.0f : (*values)[size_t(from)]);
    }
  }
  return Success{};
}

} // namespace

Status fillImage(const ImagePlan &plan, const Machine &machine,
                 const models::WeightSource &weights, SramImage &image) {
  Filler filler(machine, weights, image);
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
