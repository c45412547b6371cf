// Which SRAM addresses a burst touches, and when, as stretches of successive
// addresses at equal time steps; dynamic terms expanded over every position
// that the host may set.
#pragma once

#include "machine/Program.h"

#include <vector>

namespace orrery::check {

/// Addresses low .. low + count - 1 of one bank of one slice. Address low + k
/// is accessed at tick + k * perAddress.
struct Cell {
  int64_t low, count;
  Tick tick, perAddress;

  int64_t high() const { return low + count - 1; }
  Tick at(int64_t address) const { return tick + (address - low) * perAddress; }
  Tick first() const { return std::min(at(low), at(high())); }
  Tick last() const { return std::max(at(low), at(high())); }
};

/// Least and greatest address of vector addresses, when POS < `positions`.
struct AddressBox {
  int64_t low, high;
};
AddressBox boxOf(const AddressPattern &address, uint32_t positions,
                 int32_t lanes);

/// The same of a write; of its stripes' origins when it is striped.
AddressBox boxOf(const WriteOp &op, uint32_t positions, int32_t lanes);

/// Ticks are relative to the access of vector 0 in the same slice. Cells may
/// overlap. With a dynamic term they are all the places that the access may
/// go to.
std::vector<Cell> cellsOf(const ReadOp &op, uint32_t positions, int32_t lanes);
std::vector<Cell> cellsOf(const WriteOp &op, uint32_t positions, int32_t lanes);

} // namespace orrery::check
