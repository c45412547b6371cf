// One metadata value of a GGUF file.
//
// A value is a view into the file's bytes that has been checked once, when the
// file was parsed: reading it allocates nothing and cannot run out of bounds.
// It is valid as long as those bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace orrery::models {

class ByteReader;

/// Arrays of arrays deeper than this are refused.
inline constexpr unsigned kMaxArrayDepth = 4;

/// Type numbers as stored in the file.
enum class GgufType : uint32_t {
  U8 = 0,
  I8 = 1,
  U16 = 2,
  I16 = 3,
  U32 = 4,
  I32 = 5,
  F32 = 6,
  Bool = 7,
  String = 8,
  Array = 9,
  U64 = 10,
  I64 = 11,
  F64 = 12,
};

/// "u32", "string", …; "?" for a number that is no type.
std::string_view ggufTypeName(GgufType type);

class GgufValue {
public:
  GgufValue() = default;

  /// `bytes` are the value's payload, already checked: for a string the
  /// characters, for an array the elements as stored, for the rest the
  /// little-endian number.
  GgufValue(GgufType type, std::span<const std::byte> bytes,
            uint64_t fileOffset)
      : valueType(type), payload(bytes), offset(fileOffset) {}

  static GgufValue array(GgufType elementType, uint64_t count,
                         std::span<const std::byte> bytes, uint64_t fileOffset);

  GgufType type() const { return valueType; }

  /// Byte offset of the value in the file, for messages.
  uint64_t fileOffset() const { return offset; }

  /// The number if it is of any integer type and not negative.
  std::optional<uint64_t> asUnsigned() const;

  /// The number if it is of any integer type and fits.
  std::optional<int64_t> asSigned() const;

  /// The number if it is F32 or F64.
  std::optional<double> asFloat() const;

  std::optional<bool> asBool() const;
  std::optional<std::string_view> asString() const;

  bool isArray() const { return valueType == GgufType::Array; }

  /// Element type and number of elements; meaningful for arrays only.
  GgufType elementType() const { return element; }
  uint64_t count() const { return elementCount; }

  /// The elements of an array, in order; empty for any other type. Costs one
  /// GgufValue an element (the elements were counted against the file's size).
  std::vector<GgufValue> elements() const;

private:
  GgufType valueType = GgufType::U8;
  GgufType element = GgufType::U8;
  uint64_t elementCount = 0;
  std::span<const std::byte> payload;
  uint64_t offset = 0;
};

/// Reads one value of `type` at the cursor and checks it to its last element:
/// known types, array counts that fit the bytes left, at most kMaxArrayDepth
/// arrays in each other. False with reader.error() otherwise.
bool readGgufValue(ByteReader &reader, GgufType type, GgufValue &value);

} // namespace orrery::models
