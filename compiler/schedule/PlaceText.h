// Room in SRAM for a program's own instructions.
#pragma once

#include "compiler/lower/ChipLayout.h"
#include "machine/Program.h"
#include "machine/Result.h"

namespace orrery::schedule {

/// Adds Instructions regions for programBytes(program). First come the free
/// ends of the weight slices' banks; no program of a set has temporaries there.
/// Then the data slices, from their top addresses down: which these are follows
/// from what lasts, and is the same for all programs of a set, whose
/// temporaries differ but avoid the top (textFloor). The first `taken` vectors
/// of that space belong to the text of other programs of the set. Returns the
/// vectors this one takes; fails with what is needed and what is free.
Expected<int64_t> placeText(Program &program, const Machine &machine,
                            int64_t taken);

} // namespace orrery::schedule
