// Fetches for programs without a compiler: tick by tick, the chunk that is
// needed first and can be read.
#pragma once

#include "machine/InstructionText.h"
#include "tests/simulator/check/Board.h"

namespace orrery::test {

/// Adds the fetches that the text of `program` needs on `machine`. The regions
/// of the text are in place; `board` says what else ports and banks do. False,
/// and some fetches, when a queue would run dry.
bool addFetches(Program &program, const Machine &machine, Board board);

/// Whether each fetch finds room and each instruction is there in time, byte by
/// byte.
bool fetchesAreRight(const Program &program, const Machine &machine);

} // namespace orrery::test
