// Every number of a machine with its source, and what follows from them.
#include "machine/MachineFields.h"
#include "runtime/command/Inspect.h"
#include "runtime/command/MachineFigures.h"

#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;

namespace orrery::command {

static std::string text(const Machine &machine) {
  std::string out = formatv("{0}\n\nnumbers\n", machine.name);
  for (const SourcedNumber &n : machine.numbers) {
    out += formatv("  {0,-32} {1,10}  {2}\n", n.path, numberText(n.value),
                   n.source);
  }
  out += "\nderived\n";
  for (const MachineFigure &f : machineFigures(machine)) {
    out += formatv("  {0,-32} {1,10:f2}  {2}\n", f.name, f.value, f.formula);
  }
  return out;
}

Expected<std::string> inspectMachine(const InspectArguments &arguments) {
  auto machine = loadMachine(arguments.file);
  if (!machine) {
    return machine.error();
  }
  if (!arguments.json) {
    return text(*machine);
  }
  Json numbers = Json::array();
  for (const SourcedNumber &n : machine->numbers) {
    numbers.push_back(
        {{"path", n.path}, {"value", n.value}, {"source", n.source}});
  }
  return dump({{"machine", machine->name},
               {"numbers", numbers},
               {"derived", figuresJson(*machine)}});
}

} // namespace orrery::command
