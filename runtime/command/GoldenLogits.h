// Golden logits beside a model: float64 rows of a file, as the recordings of
// models/ have them.
#pragma once

#include "machine/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery::command {

/// Float64 logits, [rows][vocab].
struct Golden {
  std::vector<double> values;
  size_t vocab = 0;

  size_t rows() const { return vocab > 0 ? values.size() / vocab : 0; }
  std::span<const double> row(size_t position) const {
    return std::span(values).subspan(position * vocab, vocab);
  }
};

/// The file `path`, or `path`.logits.f64 if there is none. Fails unless it
/// holds rows of `vocab` for `ids` tokens, or for one fewer.
Expected<Golden> readGolden(std::string path, size_t ids, int64_t vocab);

} // namespace orrery::command
