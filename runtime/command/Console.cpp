#include "runtime/command/Console.h"

#include "machine/WholeFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace orrery::command {

ExitCode fail(ExitCode code, const Error &error) {
  std::string line = error.message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "orrery: %s\n", line.c_str());
  return code;
}

Status writeText(const std::string &path, const std::string &text) {
  auto *bytes = reinterpret_cast<const uint8_t *>(text.data());
  Status status = replaceFile(path, {bytes, text.size()});
  if (!status) {
    return Error{path + ": " + status.error().message};
  }
  return status;
}

Status checkWritable(const std::string &path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!path.empty() &&
      access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) {
    return Error{path + ": cannot write there: " + std::strerror(errno)};
  }
  return Success{};
}

Progress::Progress(bool enabled) : visible(enabled && isatty(2)) {}

void Progress::show(const std::string &what) {
  if (visible) {
    std::fprintf(stderr, "\r\033[K%s ...", what.c_str());
    std::fflush(stderr);
    dirty = true;
  }
}

void Progress::clear() {
  if (dirty) {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    dirty = false;
  }
}

} // namespace orrery::command
