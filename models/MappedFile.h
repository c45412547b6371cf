// A file's bytes, read-only.
//
// Maps a whole file for reading and unmaps it on destruction. Not for writing
// and not for files that shrink while open: reading a page that was cut off
// ends the process with SIGBUS, as with every mmap reader.
#pragma once

#include "machine/Result.h"

#include <cstddef>
#include <span>
#include <string>

namespace orrery::models {

class MappedFile {
public:
  /// Maps `path`. An empty file gives an empty span. Fails when the path cannot
  /// be opened, is not a regular file, or cannot be mapped.
  static Expected<MappedFile> open(const std::string &path);

  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  /// The bytes; they stay at the same address when the MappedFile is moved.
  std::span<const std::byte> bytes() const { return {data, size}; }

private:
  const std::byte *data = nullptr;
  size_t size = 0;
};

} // namespace orrery::models
