// The parts of `orrery inspect`, one a kind of file. Each gives the text to
// print, or the JSON document.
#pragma once

#include "runtime/command/Console.h"

namespace orrery::command {

Expected<std::string> inspectModel(const InspectArguments &arguments);
Expected<std::string> inspectProgram(const InspectArguments &arguments);
Expected<std::string> inspectMachine(const InspectArguments &arguments);

} // namespace orrery::command
