// Which GPU backend a command runs beside the interpreter.
#pragma once

#include "gpu-reference/Reference.h"
#include "runtime/command/Arguments.h"

#include <optional>
#include <string>

namespace orrery::command {

struct ReferenceChoice {
  std::optional<gpu::Backend> backend;
  std::string why; ///< it is none
};

/// `auto` takes a device, else the emulation if `positions` of `config` take it
/// seconds. Fails when a device was asked for and there is none.
Expected<ReferenceChoice> chooseReference(GpuChoice choice,
                                          const models::ModelConfig &config,
                                          int64_t positions);

} // namespace orrery::command
