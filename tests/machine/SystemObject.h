// The `system` object of a description, for tests of what it may say.
#pragma once

#include "machine/Topology.h"

#include <nlohmann/json.hpp>

#include <string>

namespace orrery::testing {

using Json = nlohmann::json;

inline constexpr int32_t kPorts = 11;

/// A system's description; its sources say nothing.
inline Json object(int32_t chips, int32_t nodeChips, const Json &topology) {
  return {{"chips", chips},
          {"node_chips", nodeChips},
          {"topology", topology},
          {"source", {{"chips", "a"}, {"node_chips", "b"}, {"topology", "c"}}}};
}

inline Expected<System> read(const Json &object, int32_t ports = kPorts) {
  return readSystem(object, LinkParameters{ports, 217, 24, 1024});
}

inline std::string errorOf(const Json &object, int32_t ports = kPorts) {
  auto system = read(object, ports);
  return system ? "no error" : system.error().message;
}

} // namespace orrery::testing
