// Room in SRAM for a program's own instructions.
#pragma once

#include "compiler/lower/ChipLayout.h"
#include "machine/Program.h"
#include "machine/Result.h"

namespace orrery::schedule {

/// Adds Instructions regions for programBytes(program): in the free ends of
/// banks above everything else, weight slices first (no program of a set uses
/// those for temporaries). The first `taken` vectors of that space belong to
/// the text of other programs of the set. Returns the vectors this one takes;
/// fails with what is needed and what is free.
Expected<int64_t> placeText(Program &program, const Machine &machine,
                            int64_t taken);

} // namespace orrery::schedule
