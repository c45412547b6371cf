// The search for how much fits, apart from what is tried.
#pragma once

#include "machine/Result.h"

#include <cstdint>
#include <functional>

namespace orrery::runtime {

/// The greatest number from 1 to `most` that `fits`; 0: none. Where a number
/// fits, all below it must. Doubles from 1 on, then bisects, so that the number
/// found and the next one, up to `most`, have both been tried. An error of
/// `fits` ends the search and is its own.
Expected<int64_t>
greatestFit(int64_t most, const std::function<Expected<bool>(int64_t)> &fits);

} // namespace orrery::runtime
