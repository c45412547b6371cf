// Where the third-party test data lies, if it is there.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace orrery::models {

/// ORRERY_SHARED from the environment, else the build's ORRERY_SHARED_DIR.
inline std::filesystem::path sharedDirectory() {
  if (const char *fromEnvironment = std::getenv("ORRERY_SHARED")) {
    return fromEnvironment;
  }
#ifdef ORRERY_SHARED_DIR
  return ORRERY_SHARED_DIR;
#else
  return {};
#endif
}

/// The path of `relative` under data/, as text.
inline std::string sharedFile(const std::string &relative) {
  return (sharedDirectory() / "data" / relative).string();
}

inline std::vector<std::byte> readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> characters{std::istreambuf_iterator<char>(file), {}};
  const auto *first = reinterpret_cast<const std::byte *>(characters.data());
  return {first, first + characters.size()};
}

inline std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace orrery::models

/// In a test body: skips it, saying so, when data/`relative` is absent.
#define SKIP_WITHOUT_SHARED(relative)                                          \
  if (!std::filesystem::exists(orrery::models::sharedFile(relative))) {        \
    GTEST_SKIP() << "shared test data is absent: "                             \
                 << orrery::models::sharedFile(relative);                      \
  }
