#include "simulator/check/Accesses.h"

#include "simulator/check/Bursts.h"

#include <algorithm>
#include <map>

namespace orrery::check {

namespace {

/// Part of a burst in which address and time both go in equal steps.
struct Stretch {
  int64_t address, step;
  Tick tick, stride;
  int64_t count;
};

/// The same addresses with neighbouring dimensions joined where they continue
/// each other.
AddressPattern joined(const AddressPattern &a) {
  AddressPattern r = a;
  r.extent = {1, 1, 1};
  r.step = {0, 0, 0};
  int last = -1;
  for (int k = 0; k < 3; ++k) {
    if (a.extent[k] == 1) {
      continue;
    }
    if (last >= 0 && a.step[k] == int64_t(r.step[last]) * r.extent[last]) {
      r.extent[last] *= a.extent[k];
    } else {
      ++last;
      r.extent[last] = a.extent[k];
      r.step[last] = a.step[k];
    }
  }
  return r;
}

std::vector<Stretch> stretchesOf(const AddressPattern &address,
                                 const BurstShape &shape) {
  AddressPattern a = joined(address);
  BurstShape s = normalised(shape);
  std::vector<Stretch> result;
  for (uint64_t n = 0; n < s.count();) {
    uint64_t count = std::min<uint64_t>(a.extent[0] - n % a.extent[0],
                                        s.length - n % s.length);
    result.push_back(
        {a.at(n), a.step[0], s.at(n), Tick(s.stride), int64_t(count)});
    n += count;
  }
  return result;
}

void append(const Stretch &s, int64_t offset, std::vector<Cell> &to) {
  int64_t address = s.address + offset;
  if (s.count == 1 || s.step == 1) {
    to.push_back({address, s.count, s.tick, s.stride});
  } else if (s.step == -1) {
    to.push_back({address - s.count + 1, s.count,
                  s.tick + (s.count - 1) * s.stride, -s.stride});
  } else {
    for (int64_t i = 0; i < s.count; ++i) {
      to.push_back({address + i * s.step, 1, s.tick + i * s.stride, 0});
    }
  }
}

/// How many values the dynamic term has when POS < `positions`.
int64_t dynamicValues(const AddressPattern &a, int64_t positions,
                      int32_t lanes) {
  switch (a.dynamicStep == 0 ? Dynamic::None : a.dynamic) {
  case Dynamic::None:
    return 1;
  case Dynamic::Position:
    return positions;
  case Dynamic::Chunk:
    return (positions - 1) / lanes + 1;
  }
  return 1;
}

std::vector<Cell> plainCells(const AddressPattern &address,
                             const BurstShape &shape, uint32_t positions,
                             int32_t lanes) {
  std::vector<Cell> cells;
  int64_t values = dynamicValues(address, positions, lanes);
  for (const Stretch &s : stretchesOf(address, shape)) {
    for (int64_t v = 0; v < values; ++v) {
      append(s, v * address.dynamicStep, cells);
    }
  }
  return cells;
}

/// Token j is written only when POS + j < `positions`.
std::vector<Cell> tokenCells(const WriteOp &op, int64_t positions) {
  std::vector<Cell> cells;
  for (uint64_t n = 0; n < op.shape.count(); ++n) {
    int64_t token = op.address.indices(n)[op.tokenDimension];
    for (int64_t pos = 0; pos < positions - token; ++pos) {
      cells.push_back({op.address.at(n) + pos * op.address.dynamicStep, 1,
                       op.shape.at(n), 0});
    }
  }
  return cells;
}

int64_t chunksOf(const WriteOp &op, int64_t positions, int32_t lanes) {
  return op.stripeStep == 0 ? 1 : (positions - 1) / lanes + 1;
}

/// See WriteOp: the row of bytes of a token lies across the slices. A cell's
/// tick is that of the last vector that may go there.
std::vector<Cell> stripedCells(const WriteOp &op, int64_t positions,
                               int32_t lanes) {
  std::map<int64_t, Tick> lastAt;
  for (uint64_t n = 0; n < op.shape.count(); ++n) {
    Tick &last = lastAt.try_emplace(op.address.at(n), 0).first->second;
    last = std::max(last, op.shape.at(n));
  }
  std::vector<Cell> cells;
  for (auto [address, tick] : lastAt) {
    for (int64_t chunk = 0; chunk < chunksOf(op, positions, lanes); ++chunk) {
      int64_t rows = std::min<int64_t>(lanes, positions - chunk * lanes);
      int64_t count = (rows * op.stripeBytes + op.width - 1) / op.width;
      int64_t values = dynamicValues(op.address, positions, lanes);
      for (int64_t v = 0; v < values; ++v) {
        cells.push_back(
            {address + chunk * op.stripeStep + v * op.address.dynamicStep,
             count, tick, 0});
      }
    }
  }
  return cells;
}

} // namespace

AddressBox boxOf(const AddressPattern &a, uint32_t positions, int32_t lanes) {
  AddressBox box{a.base, a.base};
  for (int k = 0; k < 3; ++k) {
    int64_t reach = int64_t(a.step[k]) * (int64_t(a.extent[k]) - 1);
    (reach < 0 ? box.low : box.high) += reach;
  }
  box.high += (dynamicValues(a, positions, lanes) - 1) * int64_t(a.dynamicStep);
  return box;
}

AddressBox boxOf(const WriteOp &op, uint32_t positions, int32_t lanes) {
  AddressBox box = boxOf(op.address, positions, lanes);
  if (op.stripeBytes > 0) {
    box.high += (chunksOf(op, positions, lanes) - 1) * int64_t(op.stripeStep);
  }
  return box;
}

std::vector<Cell> cellsOf(const ReadOp &op, uint32_t positions, int32_t lanes) {
  return plainCells(op.address, op.shape, positions, lanes);
}

std::vector<Cell> cellsOf(const WriteOp &op, uint32_t positions,
                          int32_t lanes) {
  if (op.stripeBytes > 0) {
    return stripedCells(op, positions, lanes);
  }
  if (op.mask == LaneMask::TokenLane &&
      op.address.dynamic == Dynamic::Position) {
    return tokenCells(op, positions);
  }
  return plainCells(op.address, op.shape, positions, lanes);
}

} // namespace orrery::check
