#include "simulator/function/MatmulValues.h"

#include "machine/kernels/Gemv.h"
#include "machine/numerics.h"
#include "simulator/function/Lanes.h"

#include <algorithm>
#include <cstring>

namespace orrery::sim {

MatmulValues::MatmulValues(const MatmulOp &op, uint32_t instruction,
                           int32_t lanes, std::function<void(uint64_t)> compute)
    : op(op), instruction(instruction), lanes(lanes),
      compute(std::move(compute)), sums(size_t(op.rows) * size_t(lanes)),
      out(size_t(op.tiles) * op.rows * 4 * size_t(lanes)) {}

void MatmulValues::require(uint64_t vector, uint32_t) {
  if (vector >= done) {
    compute(vector);
  }
}

bool MatmulValues::addA8(const PackedTile &tile,
                         const std::vector<Entry> &entries, int64_t *to) {
  size_t blocks = size_t(lanes / numerics::kBlock);
  codes.resize(entries.size() * size_t(lanes));
  floats.resize(entries.size() * blocks);
  for (size_t i = 0; i < entries.size(); ++i) {
    std::memcpy(codes.data() + i * size_t(lanes), entries[i].planes[0],
                size_t(lanes));
    std::memcpy(floats.data() + i * blocks, entries[i].planes[1], 4 * blocks);
  }
  numerics::A8View x{
      int64_t(entries.size()), lanes,          codes.data(), lanes,
      floats.data(),           int64_t(blocks)};
  return numerics::gemvExact(tile.view(), x, to, lanes);
}

bool MatmulValues::addF16(const PackedTile &tile,
                          const std::vector<Entry> &entries, int64_t *to) {
  floats.resize(entries.size() * size_t(lanes));
  for (size_t i = 0; i < entries.size(); ++i) {
    gatherF16(entries[i].planes, lanes, floats.data() + i * size_t(lanes));
  }
  numerics::FloatView x{int64_t(entries.size()), lanes, floats.data(), lanes};
  return numerics::gemvHalf(tile.view(), x, to, lanes);
}

void MatmulValues::addRows(const PackedTile &tile, uint32_t firstRow,
                           const std::vector<Entry> &entries, Tick due) {
  int64_t *to = sums.data() + size_t(firstRow) * size_t(lanes);
  bool inRange = op.format == WeightFormat::F16 ? addF16(tile, entries, to)
                                                : addA8(tile, entries, to);
  if (!inRange) {
    throw BadValue{instruction, due,
                   "a sum of rows " + std::to_string(firstRow) + " to " +
                       std::to_string(firstRow + entries.size() - 1) +
                       " leaves the accumulator's range of +-2^27"};
  }
}

void MatmulValues::finishRows(uint32_t tile, uint32_t firstRow, uint32_t endRow,
                              Tick due) {
  size_t columns = size_t(op.high - op.low);
  floats.assign(size_t(lanes), 0.0f);
  for (uint32_t row = firstRow; row < endRow; ++row) {
    int64_t *acc = sums.data() + size_t(row) * size_t(lanes);
    if (!numerics::readAccumulators(acc, int64_t(columns),
                                    floats.data() + op.low)) {
      throw BadValue{instruction, due,
                     "row " + std::to_string(row) + " of tile " +
                         std::to_string(tile) +
                         " is outside the accumulator's range of +-2^27"};
    }
    std::fill(acc, acc + columns, 0);
    done = uint64_t(tile) * op.rows + row + 1;
    scatterF32(floats.data(), lanes,
               out.data() + (done - 1) * 4 * size_t(lanes));
  }
}

} // namespace orrery::sim
