// Makes small correct systems of chips, without the compiler: a random machine
// and cables, pipeline stages of tensor-parallel groups, and a random program
// (ProgramBuilder.h) for each part that exchanges messages with the others.
#pragma once

#include "machine/SystemProgram.h"

#include <cstdint>

namespace orrery::test {

struct BuiltSystem {
  Machine machine;
  SystemProgram program;
};

/// 2 to 16 chips; the same on every platform.
BuiltSystem buildSystem(uint64_t seed);

/// The machine of every part is stated again, and the predicted ends.
void restateSystem(BuiltSystem &system);

} // namespace orrery::test
