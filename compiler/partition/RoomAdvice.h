// What to say when a model does not fit.
#pragma once

#include "compiler/partition/Partition.h"

namespace orrery::partition {

/// "MODEL does not fit MACHINE: SPLIT takes ..., N B too many", about the stage
/// that lacks most.
std::string lackOfRoom(const Machine &machine, const StepShape &shape,
                       const std::string &split, const Deal &deal);

/// "; the smallest preset that would do is ...; ..." The change is the first
/// that helps of: another split, a q8 KV cache, less context, q4_0 weights.
std::string advice(const Machine &machine, const StepShape &shape,
                   const SplitRequest &request);

} // namespace orrery::partition
