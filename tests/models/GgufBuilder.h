// Writes GGUF files for tests, well-formed or with one thing wrong.
#pragma once

#include "models/GgufValue.h"
#include "models/TensorType.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::models {

/// A growing byte string of little-endian numbers.
class Bytes {
public:
  template <class T> Bytes &number(T value) {
    auto *first = reinterpret_cast<const std::byte *>(&value);
    content.insert(content.end(), first, first + sizeof(T));
    return *this;
  }
  Bytes &raw(std::string_view text) {
    auto *first = reinterpret_cast<const std::byte *>(text.data());
    content.insert(content.end(), first, first + text.size());
    return *this;
  }
  Bytes &string(std::string_view text) {
    return number<uint64_t>(text.size()).raw(text);
  }
  Bytes &append(std::span<const std::byte> bytes) {
    content.insert(content.end(), bytes.begin(), bytes.end());
    return *this;
  }
  Bytes &padTo(uint64_t alignment) {
    while (content.size() % alignment != 0) {
      content.push_back(std::byte{0});
    }
    return *this;
  }

  std::vector<std::byte> content;
};

class GgufBuilder {
public:
  uint32_t version = 3;
  uint64_t alignment = 32;

  GgufBuilder &entry(std::string_view key, GgufType type,
                     std::span<const std::byte> payload) {
    entries.string(key).number(static_cast<uint32_t>(type)).append(payload);
    ++entryCount;
    return *this;
  }
  GgufBuilder &u32(std::string_view key, uint32_t value) {
    return entry(key, GgufType::U32, Bytes().number(value).content);
  }
  GgufBuilder &f32(std::string_view key, float value) {
    return entry(key, GgufType::F32, Bytes().number(value).content);
  }
  GgufBuilder &boolean(std::string_view key, bool value) {
    return entry(key, GgufType::Bool, Bytes().number<uint8_t>(value).content);
  }
  GgufBuilder &string(std::string_view key, std::string_view value) {
    return entry(key, GgufType::String, Bytes().string(value).content);
  }
  GgufBuilder &strings(std::string_view key,
                       const std::vector<std::string> &values) {
    Bytes payload = arrayHeader(GgufType::String, values.size());
    for (const std::string &value : values) {
      payload.string(value);
    }
    return entry(key, GgufType::Array, payload.content);
  }
  template <class T>
  GgufBuilder &array(std::string_view key, GgufType type,
                     const std::vector<T> &values) {
    Bytes payload = arrayHeader(type, values.size());
    for (T value : values) {
      payload.number(value);
    }
    return entry(key, GgufType::Array, payload.content);
  }

  /// A tensor with the given data, placed after the ones before it. `extents`
  /// are innermost first.
  GgufBuilder &tensor(std::string_view name, std::vector<uint64_t> extents,
                      TensorType type, std::span<const std::byte> bytes) {
    tensorAt(name, extents, static_cast<uint32_t>(type), data.content.size());
    data.append(bytes).padTo(alignment);
    return *this;
  }
  /// A tensor info that claims whatever is given; no data.
  GgufBuilder &tensorAt(std::string_view name,
                        const std::vector<uint64_t> &extents, uint32_t type,
                        uint64_t offset) {
    infos.string(name).number(static_cast<uint32_t>(extents.size()));
    for (uint64_t extent : extents) {
      infos.number(extent);
    }
    infos.number(type).number(offset);
    ++tensorCount;
    return *this;
  }
  GgufBuilder &tensorF32(std::string_view name, std::vector<uint64_t> extents,
                         const std::vector<float> &values) {
    return tensor(name, std::move(extents), TensorType::F32,
                  std::as_bytes(std::span(values)));
  }

  std::vector<std::byte> build() const {
    Bytes file;
    file.raw("GGUF").number(version).number(tensorCount).number(entryCount);
    file.append(entries.content).append(infos.content).padTo(alignment);
    return file.append(data.content).content;
  }

private:
  static Bytes arrayHeader(GgufType type, uint64_t count) {
    return Bytes().number(static_cast<uint32_t>(type)).number(count);
  }

  uint64_t tensorCount = 0;
  uint64_t entryCount = 0;
  Bytes entries;
  Bytes infos;
  Bytes data;
};

} // namespace orrery::models
