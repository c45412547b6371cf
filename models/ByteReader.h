// A bounds-checked cursor over little-endian bytes.
//
// Every read says what it reads, so that a failure names field and byte offset.
// The first failure sticks: afterwards error() tells it and the cursor is of no
// further use.
#pragma once

#include "machine/Result.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace orrery::models {

static_assert(std::endian::native == std::endian::little,
              "model files are read without swapping bytes");

class ByteReader {
public:
  /// `baseOffset` is where `bytes` starts in the file, for messages.
  explicit ByteReader(std::span<const std::byte> bytes, uint64_t baseOffset = 0)
      : source(bytes), base(baseOffset) {}

  uint64_t offset() const { return base + position; }
  uint64_t remaining() const { return source.size() - position; }

  /// Hands out the next `count` bytes without copying them.
  bool take(std::string_view field, uint64_t count,
            std::span<const std::byte> &out) {
    if (count > remaining()) {
      return fail(field, offset(),
                  "expected " + std::to_string(count) + " bytes, found " +
                      std::to_string(remaining()) + " before the end");
    }
    out = source.subspan(position, count);
    position += count;
    return true;
  }

  template <class T> bool number(std::string_view field, T &value) {
    static_assert(std::is_arithmetic_v<T>);
    std::span<const std::byte> bytes;
    if (!take(field, sizeof(T), bytes)) {
      return false;
    }
    std::memcpy(&value, bytes.data(), sizeof(T));
    return true;
  }

  /// A u64 length and that many bytes.
  bool string(std::string_view field, std::string_view &value) {
    uint64_t length = 0;
    std::span<const std::byte> bytes;
    if (!number(field, length) || !take(field, length, bytes)) {
      return false;
    }
    value = {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
    return true;
  }

  /// Records the failure (the first one stays) and returns false.
  bool fail(std::string_view field, uint64_t at, std::string_view message) {
    if (problem.message.empty()) {
      problem.message = "byte " + std::to_string(at) + ": " +
                        std::string(field) + ": " + std::string(message);
    }
    return false;
  }

  const Error &error() const { return problem; }

private:
  std::span<const std::byte> source;
  uint64_t base;
  uint64_t position = 0;
  Error problem;
};

} // namespace orrery::models
