// One step of a vector program on the lanes of one vector.
#pragma once

#include "machine/VectorProgram.h"
#include "simulator/timing/StepRegisters.h"

namespace orrery::sim {

/// out = step(a, b) for `lanes` lanes of vector `vector` of the burst.
void runStep(const AluStep &step, const StepRegisters &registers,
             uint32_t vector, const float *a, const float *b, float *out);

} // namespace orrery::sim
