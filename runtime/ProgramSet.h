// Programs that take turns on one SRAM.
#pragma once

#include "machine/Program.h"
#include "machine/Result.h"

namespace orrery::runtime {

/// Whether the text of either program is safe from the other: it lies on none
/// of its temporaries, nor on its text. Each was placed without seeing the
/// other, so that this can fail when SRAM is nearly full.
Status standApart(const Program &a, const Program &b);

} // namespace orrery::runtime
