#include "runtime/command/ReferenceChoice.h"

#include <algorithm>

namespace orrery::command {

bool quickToRead(const models::ModelConfig &config, int64_t positions,
                 int64_t macs) {
  return models::decodeMacsPerToken(config) <=
         macs / std::max<int64_t>(positions, 1);
}

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
  if (!quickToRead(config, positions)) {
    return ReferenceChoice{std::nullopt,
                           device.error().message +
                               "; `--gpu emulated` runs it here, slowly"};
  }
  return ReferenceChoice{Backend::Emulated, ""};
}

} // namespace orrery::command
