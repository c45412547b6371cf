// Programs that take turns on one SRAM.
#pragma once

#include "machine/Program.h"
#include "machine/Result.h"

namespace orrery::runtime {

/// Whether the text of either program is safe from the other: it lies on none
/// of its temporaries, nor on its text. Each was placed without seeing the
/// other, so that this can fail when SRAM is nearly full.
Status standApart(const Program &a, const Program &b);

/// Whether weights, tables and KV cache of `other` lie where they do in
/// `first`, whose image fills SRAM for both. Regions of both are in one order.
Status shareWhatLasts(const Program &first, const Program &other);

/// Whether a step failed to compile for want of room, so that one with fewer
/// tokens may do: SRAM or the activation buffer, for values or text. By its
/// words: a diagnostic is all that comes out of a pass.
bool isLackOfRoom(const Error &error);

} // namespace orrery::runtime
