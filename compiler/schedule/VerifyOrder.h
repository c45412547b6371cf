// The other half of the verifier: values are there before they are used, and
// stay until they have been. Program order says who is meant; ticks must agree.
// It keeps its own books and shares nothing with Hazards.
#pragma once

#include "compiler/schedule/Problem.h"
#include "machine/Result.h"

namespace orrery::schedule {

/// Checks, over gangs in program order:
///  - a temporary's vector is read `write` ticks after it was written, or
///  later,
///    slice by slice; temporaries that share addresses live one after another;
///  - a KV cache is read after earlier gangs' writes and written after their
///    reads;
///  - a matmul finds its own load's rows in the activation entries, `load`
///  ticks
///    after they came, and nobody replaces them before its last pass;
///  - tiles are installed `install` ticks before their pass, in the order of
///    passes, into a buffer that is free.
/// The error names both ends and their ticks.
Status verifyOrder(const Problem &problem, const Schedule &schedule);

} // namespace orrery::schedule
