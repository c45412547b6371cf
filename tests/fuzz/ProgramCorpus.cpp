// Writes the seeds of ProgramFuzzer into the folder given as argument: small
// programs that load, so that the fuzzer starts behind the checks.
//
// Start: orrery_program_corpus tests/fuzz/program-corpus
#include "tests/machine/RandomProgram.h"

#include <iostream>

using namespace orrery;

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: orrery_program_corpus FOLDER\n";
    return 2;
  }
  for (const std::string &preset : presetNames()) {
    Machine machine = *loadMachine(preset);
    for (int count : {0, 1, 3}) {
      Program program =
          testing::RandomProgram(uint64_t(count), machine).make(count);
      std::string path = std::string(argv[1]) + "/" + preset + "-" +
                         std::to_string(count) + ".orrery";
      if (Status saved = saveProgram(program, path); !saved) {
        std::cerr << saved.error().message << "\n";
        return 1;
      }
    }
  }
  return 0;
}
