// Which regions of the SRAM map take the same bytes at the same time.
#pragma once

#include "machine/Program.h"

#include <optional>
#include <utility>

namespace orrery {

/// Two regions (their indices) that share an address of a slice's bank while
/// both live; none if the map is sound. Regions other than Temporary live for
/// ever. `slices` and each region's extent are within the chip; lengths and
/// lifetimes are not empty.
///
/// One sweep over time: O(w log w) for a sum w of the regions' widths.
std::optional<std::pair<size_t, size_t>>
findOverlap(const std::vector<SramRegion> &regions, int32_t slices,
            int32_t banks);

} // namespace orrery
