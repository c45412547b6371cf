// A folder of a test's own, gone with the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace orrery::testing {

class TemporaryFolder : public ::testing::Test {
protected:
  TemporaryFolder() {
    std::string pattern =
        std::filesystem::temp_directory_path() / "orrery-test-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name = "p.orrery") const {
    return folder / name;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  std::vector<uint8_t> read(const std::string &file) const {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::filesystem::path folder;
};

} // namespace orrery::testing
