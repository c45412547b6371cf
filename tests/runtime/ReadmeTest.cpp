// Every command of runtime/README.md and of the top README.md runs, in its
// order, and succeeds. Excepted by name: script/demo and script/test, which
// install packages, build, and run this test.
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

/// The lines of ```sh blocks, with the built programs found by PATH.
std::vector<std::string> shellLinesOf(const std::string &path) {
  constexpr std::string_view kBin = "build/release/bin/";
  std::ifstream file(path);
  std::vector<std::string> commands;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
    } else if (inside) {
      commands.push_back(line.starts_with(kBin) ? line.substr(kBin.size())
                                                : line);
    }
  }
  return commands;
}

TEST(Readme, EveryCommandOfTheTopRuns) {
  CommandFolder folder;
  size_t ran = 0;
  for (const std::string &command :
       shellLinesOf(std::string(ORRERY_SOURCE_DIR) + "/README.md")) {
    if (command.starts_with("script/demo ") ||
        command.starts_with("script/test ")) {
      continue;
    }
    CommandResult result = folder.run(command);
    EXPECT_EQ(result.code, 0) << command << "\n" << result.err << result.out;
    EXPECT_EQ(result.err, "") << command;
    EXPECT_NE(result.out, "") << command;
    ++ran;
  }
  EXPECT_GE(ran, 8u);
}

} // namespace
} // namespace orrery::command
