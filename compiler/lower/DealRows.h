// Which plane of the matrix unit makes which rows of a product. The compiler
// lowers by it and the partition counts by it.
#pragma once

#include "compiler/lower/AxisLayout.h"

#include <vector>

namespace orrery {

/// Lanes [low, high) of output vectors [first, first + count), on one plane.
struct RowPiece {
  int32_t plane, first, count, low, high;
  bool lastOfVector; ///< nothing of the vectors lies beyond `high`
};

/// Deals the rows of `out` to `planes` planes. Whole vectors of equal use
/// first, equally many each; what is left one after another in equal shares of
/// rows, in multiples of 16, which is how many share a vector of scales. Few
/// pieces: each wastes part of an install cycle.
std::vector<RowPiece> dealRows(const AxisLayout &out, int32_t planes);

} // namespace orrery
