#include "runtime/command/ReferenceChoice.h"

#include <algorithm>

namespace orrery::command {

/// Multiply-accumulates of weight matrices that the emulation does in about 20
/// seconds: 50 million a second on one core, measured on the shipped model.
constexpr int64_t kQuickMacs = 1'000'000'000;

Expected<ReferenceChoice> chooseReference(GpuChoice choice,
                                          const models::ModelConfig &config,
                                          int64_t positions) {
  using gpu::Backend;
  if (choice == GpuChoice::None) {
    return ReferenceChoice{std::nullopt, "--gpu none"};
  }
  if (choice == GpuChoice::Emulated) {
    return ReferenceChoice{Backend::Emulated, ""};
  }
  auto device = gpu::findDevice();
  if (device) {
    return ReferenceChoice{Backend::Device, ""};
  }
  if (choice == GpuChoice::Device) {
    return Error{"--gpu device: " + device.error().message};
  }
  int64_t macs = models::decodeMacsPerToken(config);
  if (macs > kQuickMacs / std::max<int64_t>(positions, 1)) {
    return ReferenceChoice{std::nullopt,
                           device.error().message +
                               "; `--gpu emulated` runs it here, slowly"};
  }
  return ReferenceChoice{Backend::Emulated, ""};
}

} // namespace orrery::command
