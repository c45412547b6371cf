#include "simulator/function/MatmulValues.h"

#include "machine/kernels/Gemv.h"
#include "machine/numerics.h"
#include "simulator/function/Lanes.h"

#include <algorithm>
#include <cstring>

namespace orrery::sim {

MatmulValues::MatmulValues(const MatmulOp &op, uint32_t instruction,
                           int32_t lanes, BufferPool &pool,
                           std::function<void(uint64_t)> compute)
    : op(op), instruction(instruction), lanes(lanes),
      streams(uint32_t(streamsOf(op.result()))), compute(std::move(compute)),
      pool(pool),
      sums(pool.take(size_t(op.rows) * size_t(lanes) * sizeof(int64_t))),
      out(pool.take(size_t(op.tiles) * op.rows * streams * size_t(lanes))) {
  std::fill_n(sums.as<int64_t>(), size_t(op.rows) * size_t(lanes), 0);
}

void MatmulValues::require(uint64_t vector, uint32_t) {
  if (vector >= done) {
    compute(vector);
  }
}

bool MatmulValues::addA8(const PackedTile &tile, std::span<const Entry> entries,
                         int64_t *to) {
  size_t row = size_t(lanes), blocks = row / numerics::kBlock;
  Buffer codes = pool.take(entries.size() * row);
  Buffer scales = pool.take(entries.size() * blocks * sizeof(float));
  for (size_t i = 0; i < entries.size(); ++i) {
    std::memcpy(codes.data() + i * row, entries[i].planes[0], row);
    std::memcpy(scales.as<float>() + i * blocks, entries[i].planes[1],
                blocks * sizeof(float));
  }
  numerics::A8View x{int64_t(entries.size()), lanes,
                     codes.as<int8_t>(),      lanes,
                     scales.as<float>(),      int64_t(blocks)};
  return numerics::gemvExact(tile.view(), x, to, lanes);
}

bool MatmulValues::addF16(const PackedTile &tile,
                          std::span<const Entry> entries, int64_t *to) {
  size_t row = size_t(lanes);
  Buffer values = pool.take(entries.size() * row * sizeof(float));
  for (size_t i = 0; i < entries.size(); ++i) {
    gatherF16(entries[i].planes, lanes, values.as<float>() + i * row);
  }
  numerics::FloatView x{int64_t(entries.size()), lanes, values.as<float>(),
                        lanes};
  return numerics::gemvHalf(tile.view(), x, to, lanes);
}

void MatmulValues::addRows(const PackedTile &tile, uint32_t firstRow,
                           std::span<const Entry> entries, Tick due) {
  int64_t *to = sums.as<int64_t>() + size_t(firstRow) * size_t(lanes);
  bool inRange = op.format == WeightFormat::F16 ? addF16(tile, entries, to)
                                                : addA8(tile, entries, to);
  if (!inRange) {
    throw BadValue{instruction, due,
                   "a sum of rows " + std::to_string(firstRow) + " to " +
                       std::to_string(firstRow + entries.size() - 1) +
                       " leaves the accumulator's range of +-2^27"};
  }
}

bool MatmulValues::putF32(const int64_t *acc, uint8_t *to) {
  Buffer result = pool.take(size_t(lanes) * sizeof(float));
  float *values = result.as<float>();
  std::fill_n(values, size_t(lanes), 0.0f);
  bool inRange = numerics::readAccumulators(acc, int64_t(op.high - op.low),
                                            values + op.low);
  scatterF32(values, lanes, to);
  return inRange;
}

bool MatmulValues::putSums(const int64_t *acc, uint8_t *to) {
  Buffer result = pool.take(size_t(lanes) * sizeof(int64_t));
  int64_t *values = result.as<int64_t>();
  std::fill_n(values, size_t(lanes), 0);
  std::copy_n(acc, size_t(op.high - op.low), values + op.low);
  scatterSums(values, lanes, to);
  return std::all_of(acc, acc + (op.high - op.low),
                     numerics::accumulatorInRange);
}

void MatmulValues::finishRows(uint32_t tile, uint32_t firstRow, uint32_t endRow,
                              Tick due) {
  for (uint32_t row = firstRow; row < endRow; ++row) {
    int64_t *acc = sums.as<int64_t>() + size_t(row) * size_t(lanes);
    done = uint64_t(tile) * op.rows + row + 1;
    uint8_t *to = out.data() + (done - 1) * streams * size_t(lanes);
    if (!(op.sums ? putSums(acc, to) : putF32(acc, to))) {
      throw BadValue{instruction, due,
                     "row " + std::to_string(row) + " of tile " +
                         std::to_string(tile) +
                         " is outside the accumulator's range of +-2^27"};
    }
    std::fill(acc, acc + (op.high - op.low), 0);
  }
}

} // namespace orrery::sim
