// The `orrery` command. What each subcommand does is in the file of its name.
#include "runtime/command/Arguments.h"

using namespace orrery::command;

// SystemC's library has a main of its own that wants this; never called.
extern "C" int sc_main(int, char **) { return 0; }

int main(int argc, char **argv) {
  auto parsed = parseCommandLine(argc, argv);
  if (const auto *code = std::get_if<ExitCode>(&parsed)) {
    return *code;
  }
  return std::visit([](const auto &arguments) { return execute(arguments); },
                    std::get<Arguments>(parsed));
}
