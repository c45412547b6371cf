// Arbitrary text as a machine description: refused with a message, or a machine
// that writes itself down. Text that extends a preset is only read for its
// system.
//
// Start: orrery_machine_fuzzer WORK-FOLDER machine/presets
#include "machine/DescriptionText.h"
#include "machine/MachineFields.h"
#include "machine/SystemProgram.h"
#include "machine/Topology.h"

#include <nlohmann/json.hpp>

#include <cstdlib>

using namespace orrery;

namespace {

/// Ends the run when something that must hold does not.
void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// Each cable ends at two ports that no other has.
void useSystem(const System &system, int32_t ports) {
  require(system.chips >= 1 && system.chips % system.nodeChips == 0);
  Machine machine{};
  machine.link.ports = ports;
  machine.system = system;
  PortMap ends(machine);
  for (const Link &link : system.links) {
    require(link.chip < link.otherChip);
    require(ends.otherEnd(link.chip, link.port) ==
            std::pair(link.otherChip, link.otherPort));
    require(ends.otherEnd(link.otherChip, link.otherPort) ==
            std::pair(link.chip, link.port));
  }
}

void readSystemOf(std::string_view text) {
  auto root = description::parse(text);
  if (!root || !root->is_object() || !root->contains("system")) {
    return;
  }
  LinkParameters links{11, 217, 24, 1024};
  if (auto system = readSystem(root->at("system"), links)) {
    useSystem(*system, links.ports);
  } else {
    require(system.error().message.find(": expected ") != std::string::npos);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  readSystemOf(text);
  auto machine = parseMachine(text, "fuzz");
  if (!machine) {
    require(machine.error().message.starts_with("machine `fuzz`: "));
    require(machine.error().message.find('\n') == std::string::npos);
    return 0;
  }
  for (const NumberField &field : numberFields()) {
    require(field.allows(field.get(*machine)));
  }
  useSystem(machine->system, machine->link.ports);
  require(machine->sramBytes() > 0 && machine->microseconds(1) > 0);
  auto again = parseMachine(formatMachine(*machine), "again");
  require(again && *again == *machine);
  return 0;
}
