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

/// Multiply-accumulates of weight matrices that the emulation does in about 20
/// seconds: 50 million a second on one core, measured on the shipped model.
inline constexpr int64_t kQuickMacs = 1'000'000'000;
/// Whether `positions` of `config` take no more than `macs` of them.
bool quickToRead(const models::ModelConfig &config, int64_t positions,
                 int64_t macs = kQuickMacs);

/// `auto` takes a device, else the emulation if `positions` of `config` take it
/// seconds. Fails when a device was asked for and there is none.
Expected<ReferenceChoice> chooseReference(GpuChoice choice,
                                          const models::ModelConfig &config,
                                          int64_t positions);

} // namespace orrery::command
