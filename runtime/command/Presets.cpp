// orrery presets: the built-in machines.
#include "machine/MachineFields.h"
#include "runtime/command/Console.h"
#include "runtime/command/Json.h"
#include "runtime/command/MachineFigures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using llvm::formatv;

namespace orrery::command {

ExitCode execute(const PresetsArguments &arguments) {
  Json list = Json::array();
  std::string text;
  for (const std::string &name : presetNames()) {
    auto machine = loadMachine(name);
    if (!machine) {
      return fail(kBroken, machine.error());
    }
    list.push_back({{"name", name}, {"figures", figuresJson(*machine)}});
    int32_t chips = machine->system.chips;
    text += formatv("{0,-14} {6}{1} lanes, {2} slices, {3} planes, {4:f1} MiB "
                    "of SRAM, {5} MHz\n",
                    name, machine->lanes, machine->geometry().slices(),
                    machine->geometry().planes(),
                    double(machine->sramBytes()) / (1 << 20),
                    numberText(machine->clockMhz),
                    chips > 1 ? formatv("{0} chips of ", chips).str() : "");
  }
  llvm::outs() << (arguments.json ? dump(list) : text);
  return kOk;
}

} // namespace orrery::command
