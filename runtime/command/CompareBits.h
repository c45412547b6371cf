// Whether the GPU reference computes the same bits as this system, for `orrery
// compare` of a model file.
#pragma once

#include "machine/Result.h"
#include "runtime/command/Arguments.h"
#include "runtime/command/ReferenceChoice.h"

#include <cstdint>
#include <optional>
#include <string>

namespace orrery::command {

/// Logits of this system, simulated, and of the GPU reference, each against the
/// interpreter's.
struct ComparedBits {
  bool equal = false;
  uint64_t logits = 0; ///< of each
  std::string backend; ///< "emulated on the host", or the device's name
};

/// A comparison, or why there is none. Only one that was made may be printed.
struct BitsOutcome {
  std::optional<ComparedBits> made;
  std::string whyNot;  ///< one line; empty: it was made
  bool failed = false; ///< a side failed midway, which should not happen
};

/// Nothing is compared for a shape without weights, a model whose interpreter
/// and simulation take more than `mostMacs` (whatever backend the reference
/// has: they run on the host), a system it cannot be loaded onto, or a
/// reference that cannot be opened, as for lack of device memory.
BitsOutcome compareBits(const CompareArguments &arguments,
                        int64_t mostMacs = kQuickMacs);

} // namespace orrery::command
