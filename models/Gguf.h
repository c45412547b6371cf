// Reader for GGUF model files.
//
// Parses GGUF version 2 and 3 (little-endian) over a mapping of the file:
// metadata and tensor infos are checked once and completely, tensor data is
// handed out as spans into the mapping. What a tensor or key *means* is not
// decided here: see ModelConfig.h, Tokenizer.h and Weights.h.
//
// Source of the format: docs/gguf.md and src/gguf.cpp of ggml-org/ggml.
#pragma once

#include "machine/Result.h"
#include "models/GgufValue.h"
#include "models/MappedFile.h"
#include "models/TensorType.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::models {

struct GgufEntry {
  std::string_view key;
  GgufValue value;
};

struct GgufTensor {
  std::string_view name;
  TensorType type;
  /// Number of dimensions as stored, 0..4; `extents` beyond it are 1.
  uint32_t dimensions;
  /// Innermost (contiguous) dimension first, as stored: a matrix of r rows and
  /// c columns has extents {c, r, 1, 1}.
  std::array<uint64_t, 4> extents;
  uint64_t elements;
  uint64_t sizeBytes;
  /// Offset of the data from the start of the data section.
  uint64_t dataOffset;
  /// Byte offset of this tensor's info in the file, for messages.
  uint64_t infoOffset;

  /// Extents as text, innermost first: "[64, 512]".
  std::string shapeText() const;
};

class GgufFile {
public:
  /// Maps and parses `path`. Every error names the field, its byte offset, what
  /// was expected and what was found.
  static Expected<GgufFile> open(const std::string &path);

  /// Parses bytes that the caller keeps alive for as long as the GgufFile.
  static Expected<GgufFile> parse(std::span<const std::byte> bytes);

  uint32_t version() const { return formatVersion; }
  uint64_t alignmentBytes() const { return alignment; }

  /// Where the data section starts in the file.
  uint64_t dataStart() const { return dataSectionStart; }

  /// True when the file ends before its data section although it lists tensors
  /// with data (a vocabulary or header dump). It can be inspected, not loaded.
  bool isHeaderOnly() const { return headerOnly; }

  /// In file order.
  std::span<const GgufEntry> metadata() const { return entries; }
  std::span<const GgufTensor> tensors() const { return tensorInfos; }

  /// The value of `key`, or null.
  const GgufValue *find(std::string_view key) const;

  /// The tensor called `name`, or null.
  const GgufTensor *findTensor(std::string_view name) const;

  /// Values of a key that must exist with the right type.
  Expected<uint64_t> requireUnsigned(std::string_view key) const;
  Expected<double> requireFloat(std::string_view key) const;
  Expected<std::string_view> requireString(std::string_view key) const;

  /// Values of a key that may be missing, but must have the right type if not.
  Expected<uint64_t> unsignedOr(std::string_view key, uint64_t fallback) const;
  Expected<double> floatOr(std::string_view key, double fallback) const;
  Expected<bool> boolOr(std::string_view key, bool fallback) const;

  /// The bytes of one of this file's tensors. Fails when its type is not
  /// loadable (naming it and the loadable ones) or the file is header-only.
  Expected<std::span<const std::byte>> data(const GgufTensor &tensor) const;

private:
  friend class GgufParser;

  MappedFile mapping;
  std::span<const std::byte> fileBytes;
  uint32_t formatVersion = 0;
  uint64_t alignment = 32;
  uint64_t dataSectionStart = 0;
  bool headerOnly = false;
  std::vector<GgufEntry> entries;
  std::vector<GgufTensor> tensorInfos;
  std::map<std::string_view, size_t> entryIndex;
  std::map<std::string_view, size_t> tensorIndex;
};

} // namespace orrery::models
