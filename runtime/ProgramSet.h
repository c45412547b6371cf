// Programs that take turns on the SRAM of the same chips.
#pragma once

#include "machine/Result.h"
#include "machine/SystemProgram.h"

namespace orrery::runtime {

/// Whether the text of either program is safe from the other: it lies on none
/// of its temporaries, nor on its text. Each was placed without seeing the
/// other, so that this can fail when SRAM is nearly full.
Status standApart(const Program &a, const Program &b);
/// The same for each part of both.
Status standApart(const SystemProgram &a, const SystemProgram &b);

/// Whether weights, tables and KV cache of `other` lie where they do in
/// `first`, whose image fills SRAM for both. Regions of both are in one order.
Status shareWhatLasts(const Program &first, const Program &other);
/// The same for each part of both.
Status shareWhatLasts(const SystemProgram &first, const SystemProgram &other);

/// Whether each chip runs the same part as the same rank of the same stage in
/// both: then its SRAM holds the same shards and layers.
Status runAlike(const SystemProgram &first, const SystemProgram &other);

} // namespace orrery::runtime
