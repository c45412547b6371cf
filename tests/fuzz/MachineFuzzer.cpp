// Arbitrary text as a machine description: refused with a message, or a machine
// that writes itself down.
//
// Start: orrery_machine_fuzzer WORK-FOLDER machine/presets
#include "machine/MachineFields.h"

#include <cstdlib>

using namespace orrery;

namespace {

/// Ends the run when something that must hold does not.
void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  auto machine = parseMachine(text, "fuzz");
  if (!machine) {
    require(machine.error().message.starts_with("machine `fuzz`: "));
    require(machine.error().message.find('\n') == std::string::npos);
    return 0;
  }
  for (const NumberField &field : numberFields()) {
    require(field.allows(field.get(*machine)));
  }
  require(machine->sramBytes() > 0 && machine->microseconds(1) > 0);
  auto again = parseMachine(formatMachine(*machine), "again");
  require(again && *again == *machine);
  return 0;
}
