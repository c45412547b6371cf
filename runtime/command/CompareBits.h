// Whether the GPU reference computes the same bits as this system, for `orrery
// compare` of a model file.
#pragma once

#include "machine/Result.h"
#include "runtime/command/Arguments.h"

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

/// Empty where nothing was compared: a shape without weights, no backend that
/// runs the model within seconds, or a system it cannot be loaded onto. Only a
/// comparison that was made may be printed. Fails when a side fails midway.
Expected<std::optional<ComparedBits>>
compareBits(const CompareArguments &arguments);

} // namespace orrery::command
