// Rows of f32 in memory, the values of the interpreter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace orrery::llm {

/// [rows, width] f32 row-major; row t belongs to the t-th valid token.
struct Tensor {
  Tensor() = default;
  Tensor(int64_t rows, int64_t width)
      : rows(rows), width(width), values(rows * width) {}

  std::span<float> row(int64_t t) {
    return {values.data() + t * width, size_t(width)};
  }
  std::span<const float> row(int64_t t) const {
    return {values.data() + t * width, size_t(width)};
  }

  int64_t rows = 0;
  int64_t width = 0;
  std::vector<float> values;
};

} // namespace orrery::llm
