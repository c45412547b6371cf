// Makes small correct programs on random machines, without the compiler: gangs
// of instructions joined by streams (read -> vector -> write, read -> install
// -> matmul -> write, ...) are put together with relative ticks and placed,
// one after the other, at the first tick at which all their cells are free.
#pragma once

#include "machine/Program.h"

#include <cstdint>

namespace orrery::test {

struct BuiltProgram {
  Machine machine;
  Program program;
};

/// The machine and the program of a seed; the same on every platform.
BuiltProgram buildProgram(uint64_t seed);

/// The end of the step by rule 7 of machine/README.md.
Tick endTickOf(const Program &program, const Machine &machine);

} // namespace orrery::test
