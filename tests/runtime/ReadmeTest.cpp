// Every command of runtime/README.md runs, in its order, and succeeds.
#include "tests/runtime/Command.h"

#include <sstream>
#include <vector>

namespace orrery::command {
namespace {

std::vector<std::string> commandsOf(const std::string &path) {
  std::ifstream file(path);
  std::vector<std::string> commands;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("    orrery ")) {
      commands.push_back(line.substr(4));
    }
  }
  return commands;
}

TEST(Readme, EveryCommandRuns) {
  CommandFolder folder;
  auto commands =
      commandsOf(std::string(ORRERY_SOURCE_DIR) + "/runtime/README.md");
  EXPECT_GE(commands.size(), 14u);
  for (const std::string &command : commands) {
    CommandResult result = folder.run(command);
    EXPECT_EQ(result.code, 0) << command << "\n" << result.err << result.out;
    EXPECT_EQ(result.err, "") << command;
  }
  for (const char *file :
       {"counters.json", "trace.json", "step.orrery", "step.mlir"}) {
    EXPECT_NE(folder.read(file), "") << file;
  }
}

} // namespace
} // namespace orrery::command
