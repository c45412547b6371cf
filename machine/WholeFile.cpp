#include "machine/WholeFile.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace orrery {

namespace {

/// What failed, and why according to errno.
Error systemError(const std::string &what) {
  return {what + ": " + std::strerror(errno)};
}

/// Owns a file descriptor.
struct Descriptor {
  int number;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0) {
      close(number);
    }
  }
};

bool readFully(int file, std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t got = read(file, bytes.data(), bytes.size());
    if (got == 0) {
      errno = EIO; // shorter than fstat said
    }
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return false;
    }
    bytes = bytes.subspan(got < 0 ? 0 : size_t(got));
  }
  return true;
}

bool writeFully(int file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t put = write(file, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR) {
      return false;
    }
    bytes = bytes.subspan(put < 0 ? 0 : size_t(put));
  }
  return true;
}

/// A name beside `path` that no other writer of this kind uses.
std::string nameBeside(const std::string &path) {
  static std::atomic<unsigned> serial = 0;
  return path + ".partial-" + std::to_string(getpid()) + "-" +
         std::to_string(serial++);
}

} // namespace

Expected<std::vector<uint8_t>> readWholeFile(const std::string &path,
                                             uint64_t limit) {
  // Non-blocking, or opening a pipe without a writer would hang.
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (file.number < 0 || fstat(file.number, &status) != 0) {
    return systemError("cannot open");
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{"expected a regular file, found another kind"};
  }
  auto size = uint64_t(status.st_size);
  if (size > limit) {
    return Error{"expected at most " + std::to_string(limit) +
                 " bytes, found " + std::to_string(size)};
  }
  std::vector<uint8_t> bytes(size);
  if (!readFully(file.number, bytes)) {
    return systemError("cannot read");
  }
  return bytes;
}

Status replaceFile(const std::string &path, std::span<const uint8_t> bytes) {
  std::string partial = nameBeside(path);
  Descriptor file(
      open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.number < 0) {
    return systemError("cannot create a file beside it");
  }
  if (writeFully(file.number, bytes) && fsync(file.number) == 0 &&
      rename(partial.c_str(), path.c_str()) == 0) {
    return Success{};
  }
  Error error = systemError("cannot write");
  unlink(partial.c_str());
  return error;
}

} // namespace orrery
