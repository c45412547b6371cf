// From a placed flow.program to a scheduling problem.
#pragma once

#include "compiler/schedule/Problem.h"
#include "dialects/flow/Flow.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace orrery::schedule {

/// A problem and what the tick program needs beside its instructions.
struct FlowProblem {
  Problem problem;
  std::vector<std::vector<uint16_t>> laneMaps;
  std::vector<mlir::Location> locations; ///< by Gang::location
  std::vector<SramRegion> regions;       ///< lifetimes not yet known
  LogitsPlace logits{};
  uint32_t inputVectors = 0; ///< f32 vectors the host sends per token
};

/// Fails with a diagnostic on ops that have no place yet.
mlir::FailureOr<FlowProblem> readFlow(flow::ProgramOp program,
                                      const Machine &machine);

} // namespace orrery::schedule
