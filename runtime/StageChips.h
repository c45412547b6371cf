// Which chips of a system program are the ranks of which stage, and what lies
// between stages.
#pragma once

#include "machine/SystemProgram.h"

namespace orrery::runtime {

/// [stage][rank]: index into SystemProgram::chips. Relays are stages too.
std::vector<std::vector<size_t>> stageChips(const SystemProgram &program);

/// Whether a part only takes in and sends on: third chips between two stages
/// that have sections of the model.
bool isRelay(const Program &part);
/// Stages of a program that are relays.
int64_t relayCount(const SystemProgram &program);

/// The link numbers from a stage to the next, one a cable: those of the first
/// stage's first rank; they are the same everywhere. None for one stage.
std::vector<LinkNumber> linksOnward(const SystemProgram &program,
                                    const Machine &machine);

} // namespace orrery::runtime
