#include "models/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace orrery::models {

namespace {

Error systemError(const std::string &path, const char *action) {
  return Error{path + ": cannot " + action + ": " + std::strerror(errno)};
}

struct FileDescriptor {
  int number;
  ~FileDescriptor() {
    if (number >= 0) {
      ::close(number);
    }
  }
};

} // namespace

Expected<MappedFile> MappedFile::open(const std::string &path) {
  // O_NONBLOCK: opening a FIFO without a writer must not wait.
  FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) {
    return systemError(path, "open");
  }
  struct stat status{};
  if (::fstat(file.number, &status) != 0) {
    return systemError(path, "stat");
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{path + ": expected a regular file"};
  }
  MappedFile result;
  if (status.st_size == 0) {
    return result;
  }
  auto size = static_cast<size_t>(status.st_size);
  void *address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (address == MAP_FAILED) {
    return systemError(path, "map");
  }
  result.data = static_cast<const std::byte *>(address);
  result.size = size;
  return result;
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data(std::exchange(other.data, nullptr)),
      size(std::exchange(other.size, 0)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data, other.data);
  std::swap(size, other.size);
  return *this;
}

MappedFile::~MappedFile() {
  if (data) {
    ::munmap(const_cast<std::byte *>(data), size);
  }
}

} // namespace orrery::models
