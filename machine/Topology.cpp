#include "machine/Topology.h"

#include "machine/Cables.h"
#include "machine/DescriptionText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace orrery {

namespace {

using description::checkKeys;
using description::joined;
using description::shown;
using nlohmann::json;

/// The largest published system has 10,440.
constexpr int32_t kMaxChips = 16'384;
/// Of the object's text; a machine with it must still be a description.
constexpr size_t kMaxTextBytes = 1 << 18;

constexpr std::string_view kChipsPath = "system.chips";
constexpr std::string_view kTopologyPath = "system.topology";

std::string text(int64_t number) { return std::to_string(number); }

/// Reads the object; stops at the first error.
class SystemReader {
public:
  SystemReader(const json &object, const LinkParameters &parameters)
      : object(object), parameters(parameters) {}

  Expected<System> run() {
    if (!readNumbers() || !readTopology() || !portsExist() || !connected()) {
      return Error{problem.message()};
    }
    sortLinks();
    system.json = object.dump();
    if (system.json.size() > kMaxTextBytes) {
      return Error{"system: expected at most " + text(kMaxTextBytes) +
                   " bytes, found " + text(int64_t(system.json.size()))};
    }
    return std::move(system);
  }

private:
  bool readNumbers();
  bool whole(std::string_view path, const json &value, int32_t low,
             int32_t high, int32_t &number);

  bool readTopology();
  bool readLinks();
  bool readLink(const std::string &path, const json &value, Link &link);
  bool readFullyConnected();
  bool readRing();
  bool readMesh();
  bool readDragonfly();
  bool readNodeRing();
  /// Ports that a chip has beyond those to its node's others.
  int32_t portsBeyondNode() const {
    return parameters.ports - (system.nodeChips - 1);
  }
  int32_t nodes() const { return system.chips / system.nodeChips; }
  bool parameter(const char *key, int32_t low, int32_t high, int32_t &number) {
    return whole(joined(kTopologyPath, key), object.at("topology").at(key), low,
                 high, number);
  }
  void add(const std::vector<Link> &cables) {
    system.links.insert(system.links.end(), cables.begin(), cables.end());
  }

  bool portsExist();
  bool connected();
  void sortLinks();
  bool atLeast(std::string_view path, int32_t value, int32_t low,
               const std::string &why) {
    return problem.require(value >= low, path,
                           "at least " + text(low) + ", " + why, value);
  }

  struct Kind {
    description::Keys needed, allowed;
    bool (SystemReader::*read)();
  };
  static const std::map<std::string, Kind> kKinds;

  const json &object;
  const LinkParameters &parameters;
  System system;
  FirstProblem problem;
};

const std::map<std::string, SystemReader::Kind> SystemReader::kKinds = {
    {"links", {{"links"}, {}, &SystemReader::readLinks}},
    {"fully_connected", {{}, {}, &SystemReader::readFullyConnected}},
    {"ring", {{}, {}, &SystemReader::readRing}},
    {"mesh2d", {{"columns"}, {}, &SystemReader::readMesh}},
    {"dragonfly", {{}, {"global_ports"}, &SystemReader::readDragonfly}},
    {"node_ring", {{"reach"}, {}, &SystemReader::readNodeRing}},
};

bool SystemReader::whole(std::string_view path, const json &value, int32_t low,
                         int32_t high, int32_t &number) {
  if (!value.is_number_integer()) {
    return problem.fail(path, "a whole number", shown(value));
  }
  // As double, an unsigned number beyond int64_t does not wrap.
  auto wide = value.get<double>();
  if (wide < low || wide > high) {
    return problem.fail(path,
                        low > high    ? "nothing, as nothing is in range"
                        : low == high ? text(low)
                                      : text(low) + " to " + text(high),
                        shown(value));
  }
  number = value.get<int32_t>();
  return true;
}

bool SystemReader::readNumbers() {
  description::Keys sourced{"chips", "node_chips", "topology"};
  description::Keys keys = sourced;
  keys.insert("source");
  if (!checkKeys("system", object, keys, {}, problem) ||
      !checkKeys("system.source", object.at("source"), sourced, {}, problem)) {
    return false;
  }
  auto hasSource = [&](std::string_view key) {
    return description::checkSource("system", key, object.at("source"),
                                    problem);
  };
  if (!std::ranges::all_of(sourced, hasSource) ||
      !whole(kChipsPath, object.at("chips"), 1, kMaxChips, system.chips)) {
    return false;
  }
  if (system.chips > 1 && parameters.ports == 0) {
    return problem.fail(kChipsPath, "1, as c2c.ports is 0", text(system.chips));
  }
  return whole("system.node_chips", object.at("node_chips"), 1, system.chips,
               system.nodeChips) &&
         problem.require(system.chips % system.nodeChips == 0, kChipsPath,
                         "a multiple of system.node_chips = " +
                             text(system.nodeChips),
                         system.chips);
}

//===-- Kinds of topology -------------------------------------------------===//

bool SystemReader::readTopology() {
  const json &topology = object.at("topology");
  if (!topology.is_object()) {
    return problem.fail(kTopologyPath, "an object", shown(topology));
  }
  std::string kindPath = joined(kTopologyPath, "kind");
  if (!topology.contains("kind")) {
    return problem.fail(kindPath, "a value", "nothing");
  }
  const json &kind = topology.at("kind");
  auto found = kKinds.end();
  if (kind.is_string()) {
    found = kKinds.find(kind.get<std::string>());
  }
  if (found == kKinds.end()) {
    std::string list;
    for (const auto &[name, ignored] : kKinds) {
      list += (list.empty() ? "\"" : ", \"") + name + "\"";
    }
    return problem.fail(kindPath, "one of " + list, shown(kind));
  }
  description::Keys needed = found->second.needed;
  needed.insert("kind");
  return checkKeys(kTopologyPath, topology, needed, found->second.allowed,
                   problem) &&
         (this->*found->second.read)();
}

bool SystemReader::readLinks() {
  const json &list = object.at("topology").at("links");
  std::string path = joined(kTopologyPath, "links");
  std::set<std::pair<int32_t, int32_t>> used;
  if (!list.is_array()) {
    return problem.fail(path, "an array of [chip, port, chip, port]",
                        shown(list));
  }
  for (size_t i = 0; i < list.size(); ++i) {
    Link link{};
    std::string at = path + "[" + std::to_string(i) + "]";
    if (!readLink(at, list[i], link)) {
      return false;
    }
    for (auto [chip, port] : {std::pair(link.chip, link.port),
                              std::pair(link.otherChip, link.otherPort)}) {
      if (!used.insert({chip, port}).second) {
        return problem.fail(at, "ports without a cable",
                            "port " + text(port) + " of chip " + text(chip) +
                                ", which has one");
      }
    }
    system.links.push_back(link);
  }
  return true;
}

bool SystemReader::readLink(const std::string &path, const json &value,
                            Link &link) {
  if (!value.is_array() || value.size() != 4) {
    return problem.fail(path, "[chip, port, chip, port]",
                        value.is_array()
                            ? text(int64_t(value.size())) + " elements"
                            : shown(value));
  }
  auto end = [&](size_t at, int32_t &chip, int32_t &port) {
    std::string index = path + "[" + std::to_string(at);
    std::string next = path + "[" + std::to_string(at + 1);
    return whole(index + "] (chip)", value[at], 0, system.chips - 1, chip) &&
           whole(next + "] (port)", value[at + 1], 0, parameters.ports - 1,
                 port);
  };
  return end(0, link.chip, link.port) &&
         end(2, link.otherChip, link.otherPort) &&
         (link.chip != link.otherChip ||
          problem.fail(path, "two chips",
                       "chip " + text(link.chip) + " linked to itself"));
}

// Each checks before it generates: how much depends on the parameters.

bool SystemReader::readFullyConnected() {
  if (!atLeast("c2c.ports", parameters.ports, system.chips - 1,
               "one to each other chip")) {
    return false;
  }
  add(nodeCables(system.chips, system.chips));
  return true;
}

bool SystemReader::readRing() {
  if (!atLeast(kChipsPath, system.chips, 2, "for a ring")) {
    return false;
  }
  add(ringCables(system.chips));
  return true;
}

bool SystemReader::readMesh() {
  int32_t columns = 0;
  if (!parameter("columns", 1, system.chips, columns) ||
      !problem.require(system.chips % columns == 0, kChipsPath,
                       "a multiple of system.topology.columns = " +
                           text(columns),
                       system.chips)) {
    return false;
  }
  add(meshCables(system.chips, columns));
  return true;
}

bool SystemReader::readDragonfly() {
  int32_t globalPorts = portsBeyondNode();
  bool given = object.at("topology").contains("global_ports");
  if (!atLeast("c2c.ports", parameters.ports, system.nodeChips,
               "one to each other chip of a node and a global one") ||
      !atLeast(kChipsPath, system.chips, 2 * system.nodeChips,
               "two nodes of a dragonfly") ||
      (given && !parameter("global_ports", 1, globalPorts, globalPorts))) {
    return false;
  }
  auto offsets = dragonflyOffsets(nodes(), system.nodeChips, globalPorts);
  if (offsets.empty()) {
    return problem.fail(kTopologyPath,
                        "nodes that can all be linked equally, straight, by " +
                            text(globalPorts) + " global ports of each of " +
                            text(system.nodeChips) + " chips",
                        text(nodes()) + " nodes");
  }
  add(nodeCables(system.chips, system.nodeChips));
  add(straightCables(nodes(), offsets));
  return true;
}

bool SystemReader::readNodeRing() {
  int32_t reach = 0;
  if (!atLeast(kChipsPath, system.chips, 3 * system.nodeChips,
               "three nodes of a ring") ||
      !parameter("reach", 1, (nodes() - 1) / 2, reach) ||
      !atLeast("c2c.ports", parameters.ports, system.nodeChips - 1 + 2 * reach,
               "one to each other chip of a node and two a node reached")) {
    return false;
  }
  add(nodeCables(system.chips, system.nodeChips));
  add(straightCables(nodes(),
                     nodeRingOffsets(nodes(), system.nodeChips, reach)));
  return true;
}

//===-- What must hold of every topology ----------------------------------===//

bool SystemReader::portsExist() {
  int32_t last = -1;
  for (const Link &link : system.links) {
    last = std::max({last, link.port, link.otherPort});
  }
  return atLeast("c2c.ports", parameters.ports, last + 1, "for this topology");
}

bool SystemReader::connected() {
  std::vector<std::vector<int32_t>> neighbours(size_t(system.chips));
  for (const Link &link : system.links) {
    neighbours[size_t(link.chip)].push_back(link.otherChip);
    neighbours[size_t(link.otherChip)].push_back(link.chip);
  }
  std::vector<bool> reached(size_t(system.chips));
  std::vector<int32_t> open{0};
  reached[0] = true;
  while (!open.empty()) {
    int32_t chip = open.back();
    open.pop_back();
    for (int32_t other : neighbours[size_t(chip)]) {
      if (!reached[size_t(other)]) {
        reached[size_t(other)] = true;
        open.push_back(other);
      }
    }
  }
  auto lost = std::ranges::find(reached, false);
  return lost == reached.end() ||
         problem.fail(kTopologyPath, "a path from chip 0 to every chip",
                      "none to chip " + text(lost - reached.begin()));
}

void SystemReader::sortLinks() {
  for (Link &link : system.links) {
    if (link.chip > link.otherChip) {
      std::swap(link.chip, link.otherChip);
      std::swap(link.port, link.otherPort);
    }
  }
  std::ranges::sort(system.links, {}, [](const Link &link) {
    return std::pair(link.chip, link.port);
  });
}

} // namespace

Expected<System> readSystem(const json &object, const LinkParameters &links) {
  return SystemReader(object, links).run();
}

} // namespace orrery
