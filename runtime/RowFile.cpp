#include "runtime/RowFile.h"

#include <cassert>
#include <cerrno>
#include <cstring>
#include <string>

namespace orrery::runtime {

static Error failed(const char *what) {
  return Error{std::string("temporary file of logits: ") + what + ": " +
               std::strerror(errno)};
}

Expected<RowFile> RowFile::create(size_t width) {
  File file(std::tmpfile());
  if (!file) {
    return failed("cannot be made");
  }
  return RowFile(std::move(file), width);
}

/// Also what must stand between writing and reading.
Status RowFile::seek(size_t row) {
  const auto place = off_t(row * line.size() * sizeof(float));
  return fseeko(file.get(), place, SEEK_SET) == 0 ? Status(Success{})
                                                  : failed("seek");
}

Status RowFile::append(std::span<const float> rows) {
  assert(rows.size() % line.size() == 0 && "whole rows");
  if (Status ok = seek(count); !ok) {
    return ok;
  }
  if (std::fwrite(rows.data(), sizeof(float), rows.size(), file.get()) !=
          rows.size() ||
      std::fflush(file.get()) != 0) {
    return failed("write");
  }
  count += rows.size() / line.size();
  return Success{};
}

Expected<std::span<const float>> RowFile::read(size_t row) {
  assert(row < count);
  if (Status ok = seek(row); !ok) {
    return ok.error();
  }
  if (std::fread(line.data(), sizeof(float), line.size(), file.get()) !=
      line.size()) {
    return failed("read");
  }
  return std::span<const float>(line);
}

} // namespace orrery::runtime
