// Runs the built `orrery` in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace orrery::command {

struct CommandResult {
  int code = -1;
  std::string out, err;
};

/// A folder that goes away, with `models` linked to the project's.
class CommandFolder {
public:
  CommandFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path = name;
    std::filesystem::create_directory_symlink(
        std::string(ORRERY_SOURCE_DIR) + "/models", path / "models");
  }
  ~CommandFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  CommandFolder(const CommandFolder &) = delete;
  CommandFolder &operator=(const CommandFolder &) = delete;

  /// `line` is for the shell, which knows $MODEL, the shipped model, and
  /// $SMALL, the flag of the small chip.
  CommandResult run(const std::string &line) const {
    std::string shell =
        "cd '" + path.string() + "' && PATH='" + ORRERY_BIN_DIR +
        "':$PATH && export PATH && SMALL='--machine lpu-small' && "
        "MODEL=models/tiny/orrery-tiny-Q8_0.gguf && " +
        line + " >stdout.txt 2>stderr.txt </dev/null";
    int status = std::system(shell.c_str());
    CommandResult result{WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                         read("stdout.txt"), read("stderr.txt")};
    remove("stdout.txt");
    remove("stderr.txt");
    return result;
  }

  void write(const std::string &name, const std::string &text) const {
    std::ofstream(path / name, std::ios::binary) << text;
  }
  std::string read(const std::string &name) const {
    std::ifstream file(path / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string at(const std::string &name) const {
    return (path / name).string();
  }
  void remove(const std::string &name) const {
    std::filesystem::remove(path / name);
  }
  /// Files beside `models`.
  size_t files() const {
    return size_t(std::distance(std::filesystem::directory_iterator(path),
                                std::filesystem::directory_iterator())) -
           1;
  }

private:
  std::filesystem::path path;
};

} // namespace orrery::command
