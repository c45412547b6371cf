// Which weights go to the data slices when the weight slices cannot hold all.
#pragma once

#include "compiler/allocate/Allocator.h"

namespace orrery::allocate {

/// Marks, of the weights of each side that exceeds its weight slices, as many
/// as do not fit there: one every so many, so that the planes read their other
/// weights meanwhile. In a row they would queue for the few data slices.
/// Returns whether any is marked.
bool spreadSpill(const Machine &machine, const ChipLayout &layout,
                 std::vector<Request> &requests);

} // namespace orrery::allocate
