// Rows of f32 in a file without a name, one in memory at a time: logits of many
// sequences are more than memory holds.
#pragma once

#include "machine/Result.h"

#include <cstdio>
#include <memory>
#include <span>
#include <vector>

namespace orrery::runtime {

class RowFile {
public:
  /// No rows yet, each of `width` (at least 1) values. The file is where
  /// temporary files are, and gone when the object is. Fails when none can be
  /// made.
  static Expected<RowFile> create(size_t width);

  /// Adds one or more whole rows. Fails when there is no room.
  Status append(std::span<const float> rows);

  /// Row `row`, below rows(); valid until the next call. Fails when it cannot
  /// be read.
  Expected<std::span<const float>> read(size_t row);

  size_t rows() const { return count; }

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  RowFile(File file, size_t width) : file(std::move(file)), line(width) {}

  Status seek(size_t row);

  File file;
  std::vector<float> line;
  size_t count = 0;
};

} // namespace orrery::runtime
