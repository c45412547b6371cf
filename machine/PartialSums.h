// What a VXM program may do with accumulators (StreamType::Sum): add them, and
// nothing else. Not here: how they are added (numerics.h, accumulate).
#pragma once

#include "machine/StepFields.h"

namespace orrery {

/// Whether a reduction may leave as `type`.
inline bool reducesTo(Reduction reduction, StreamType type) {
  return reduction == Reduction::None || type == StreamType::F32 ||
         (reduction == Reduction::AddSums && type == StreamType::Sum);
}

/// Whether accumulators meet nothing but AddSums, and AddSums nothing but
/// accumulators. Value numbers need not be in range.
inline bool sumsAreOnlyAdded(const VectorProgram &program) {
  auto isSum = [&](size_t value) {
    return value < program.inputs.size() &&
           program.inputs[value] == StreamType::Sum;
  };
  for (const AluStep &step : program.steps) {
    int operands = fieldsOf(step.op).operands;
    if ((operands >= 1 && isSum(step.a)) || (operands == 2 && isSum(step.b))) {
      return false;
    }
  }
  for (const VectorOutput &out : program.outputs) {
    bool adds = out.reduction == Reduction::AddSums;
    if (isSum(out.value) != adds || (out.type == StreamType::Sum && !adds)) {
      return false;
    }
  }
  return true;
}

} // namespace orrery
