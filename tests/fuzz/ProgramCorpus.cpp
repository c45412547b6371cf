// Writes the seeds of ProgramFuzzer into the folder given as argument: small
// programs that load, so that the fuzzer starts behind the checks.
//
// Start: orrery_program_corpus tests/fuzz/program-corpus
#include "tests/machine/RandomSystem.h"

#include <iostream>

using namespace orrery;

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: orrery_program_corpus FOLDER\n";
    return 2;
  }
  for (const char *preset :
       {"lpu-small", "lpu-v1", "lp30", "lpu-small-node", "lpu-small-ring"}) {
    Machine machine = *loadMachine(preset);
    bool isSystem = machine.system.chips > 1;
    for (int count : {0, 1, 3}) {
      auto seed = uint64_t(count);
      SystemProgram program =
          isSystem
              ? testing::RandomSystem(seed, machine).make(count)
              : onOneChip(testing::RandomProgram(seed, machine, 0).make(count));
      std::string path = std::string(argv[1]) + "/" + preset + "-" +
                         std::to_string(count) + ".orrery";
      if (Status saved = saveSystemProgram(program, path); !saved) {
        std::cerr << saved.error().message << "\n";
        return 1;
      }
    }
  }
  return 0;
}
