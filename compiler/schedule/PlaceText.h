// Room in SRAM for a program's own text.
#pragma once

#include "compiler/lower/ChipLayout.h"
#include "machine/InstructionText.h"
#include "machine/Result.h"

namespace orrery::schedule {

/// Places for `chunks` chunks of text, free while the program runs. First come
/// the free ends of the weight slices' banks, where no program of a set has
/// temporaries, and the top addresses of the data slices', which temporaries
/// avoid (textFloor); a chunk of each bank in turn, so that many read ports can
/// bring them, also when weights stream. Then the data slices below their tops.
/// The order follows from what lasts, and is the same for all programs of a
/// set. The first `taken` vectors of that space belong to the text of other
/// programs of the set. Fails with what is needed and what is free.
Expected<std::vector<ChunkPlace>> textRoom(const Program &program,
                                           const Machine &machine,
                                           int64_t taken, int64_t chunks);

/// Adds Instructions regions that hold chunk after chunk at `places`.
void addTextRegions(Program &program, const Machine &machine,
                    const std::vector<ChunkPlace> &places);

} // namespace orrery::schedule
