// What a chip's units can hold of a rank's rows, whatever room there is in
// SRAM. compiler/lower refuses the same, op by op, when it comes to them.
#pragma once

#include "compiler/partition/StepShape.h"
#include "machine/Machine.h"
#include "machine/Result.h"

namespace orrery::partition {

/// An error when no stage of `tp` ranks could be lowered for the machine: a
/// head wider than its lanes, no slices for weights, rows or scores beyond a
/// plane's activation buffer.
Status checkUnits(const Machine &machine, const StepShape &shape, int64_t tp);

} // namespace orrery::partition
