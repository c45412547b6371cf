#include "models/GgufValue.h"

#include "models/ByteReader.h"

#include <cassert>
#include <cstring>
#include <limits>

namespace orrery::models {

namespace {

/// Bytes of a number of `type`; 0 for strings, arrays and unknown types.
uint64_t fixedSize(GgufType type) {
  switch (type) {
  case GgufType::U8:
  case GgufType::I8:
  case GgufType::Bool:
    return 1;
  case GgufType::U16:
  case GgufType::I16:
    return 2;
  case GgufType::U32:
  case GgufType::I32:
  case GgufType::F32:
    return 4;
  case GgufType::U64:
  case GgufType::I64:
  case GgufType::F64:
    return 8;
  default:
    return 0;
  }
}

/// The fewest bytes a value of `type` can take: an empty string is its length,
/// an empty array its element type and count.
uint64_t minimumSize(GgufType type) {
  switch (type) {
  case GgufType::String:
    return 8;
  case GgufType::Array:
    return 12;
  default:
    return fixedSize(type);
  }
}

template <class T> T load(std::span<const std::byte> bytes) {
  assert(bytes.size() == sizeof(T) && "payload size was checked when read");
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

bool isKnownType(GgufType type) { return minimumSize(type) != 0; }

bool checkType(ByteReader &reader, std::string_view field, uint64_t at,
               GgufType type) {
  if (isKnownType(type)) {
    return true;
  }
  return reader.fail(field, at,
                     "expected 0 to 12, found " +
                         std::to_string(static_cast<uint32_t>(type)));
}

bool readValue(ByteReader &reader, GgufType type, unsigned depth,
               GgufValue &value);

/// Moves over `count` elements; fixed-size ones in one step.
bool skipElements(ByteReader &reader, GgufType type, uint64_t count,
                  unsigned depth, std::span<const std::byte> &bytes) {
  if (uint64_t size = fixedSize(type)) {
    return reader.take("array elements", count * size, bytes);
  }
  GgufValue element;
  for (uint64_t index = 0; index < count; ++index) {
    if (!readValue(reader, type, depth, element)) {
      return false;
    }
  }
  return true;
}

bool readArray(ByteReader &reader, unsigned depth, GgufValue &value) {
  uint64_t at = reader.offset();
  if (depth == kMaxArrayDepth) {
    return reader.fail("array", at,
                       "expected at most " + std::to_string(kMaxArrayDepth) +
                           " arrays in each other, found more");
  }
  uint32_t typeNumber = 0;
  uint64_t count = 0;
  uint64_t typeAt = reader.offset();
  if (!reader.number("array element type", typeNumber)) {
    return false;
  }
  auto type = static_cast<GgufType>(typeNumber);
  if (!checkType(reader, "array element type", typeAt, type)) {
    return false;
  }
  uint64_t countAt = reader.offset();
  if (!reader.number("array count", count)) {
    return false;
  }
  uint64_t most = reader.remaining() / minimumSize(type);
  if (count > most) {
    return reader.fail("array count", countAt,
                       "expected at most " + std::to_string(most) +
                           " (bytes left), found " + std::to_string(count));
  }
  ByteReader start = reader;
  uint64_t from = reader.remaining();
  std::span<const std::byte> bytes;
  if (!skipElements(reader, type, count, depth + 1, bytes) ||
      !start.take("array elements", from - reader.remaining(), bytes)) {
    return false;
  }
  value = GgufValue::array(type, count, bytes, at);
  return true;
}

bool readValue(ByteReader &reader, GgufType type, unsigned depth,
               GgufValue &value) {
  uint64_t at = reader.offset();
  if (!checkType(reader, "value type", at, type)) {
    return false;
  }
  if (type == GgufType::Array) {
    return readArray(reader, depth, value);
  }
  std::span<const std::byte> bytes;
  if (type == GgufType::String) {
    std::string_view text;
    if (!reader.string("string", text)) {
      return false;
    }
    bytes = std::as_bytes(std::span(text.data(), text.size()));
  } else if (!reader.take(ggufTypeName(type), fixedSize(type), bytes)) {
    return false;
  }
  value = GgufValue(type, bytes, at);
  return true;
}

} // namespace

bool readGgufValue(ByteReader &reader, GgufType type, GgufValue &value) {
  return readValue(reader, type, 0, value);
}

std::string_view ggufTypeName(GgufType type) {
  constexpr std::string_view kNames[] = {
      "u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
      "bool", "string", "array", "u64", "i64", "f64"};
  auto number = static_cast<uint32_t>(type);
  return number < std::size(kNames) ? kNames[number] : "?";
}

GgufValue GgufValue::array(GgufType elementType, uint64_t count,
                           std::span<const std::byte> bytes,
                           uint64_t fileOffset) {
  GgufValue value(GgufType::Array, bytes, fileOffset);
  value.element = elementType;
  value.elementCount = count;
  return value;
}

std::optional<uint64_t> GgufValue::asUnsigned() const {
  if (valueType == GgufType::U64) {
    return load<uint64_t>(payload);
  }
  std::optional<int64_t> number = asSigned();
  if (!number || *number < 0) {
    return std::nullopt;
  }
  return static_cast<uint64_t>(*number);
}

std::optional<int64_t> GgufValue::asSigned() const {
  switch (valueType) {
  case GgufType::U8:
    return load<uint8_t>(payload);
  case GgufType::I8:
    return load<int8_t>(payload);
  case GgufType::U16:
    return load<uint16_t>(payload);
  case GgufType::I16:
    return load<int16_t>(payload);
  case GgufType::U32:
    return load<uint32_t>(payload);
  case GgufType::I32:
    return load<int32_t>(payload);
  case GgufType::I64:
    return load<int64_t>(payload);
  case GgufType::U64: {
    auto number = load<uint64_t>(payload);
    if (number > uint64_t(std::numeric_limits<int64_t>::max())) {
      return std::nullopt;
    }
    return static_cast<int64_t>(number);
  }
  default:
    return std::nullopt;
  }
}

std::optional<double> GgufValue::asFloat() const {
  switch (valueType) {
  case GgufType::F32:
    return load<float>(payload);
  case GgufType::F64:
    return load<double>(payload);
  default:
    return std::nullopt;
  }
}

std::optional<bool> GgufValue::asBool() const {
  if (valueType != GgufType::Bool) {
    return std::nullopt;
  }
  // Any byte but 0 is true: ggml's own writers and tests store others than 1.
  return load<uint8_t>(payload) != 0;
}

std::optional<std::string_view> GgufValue::asString() const {
  if (valueType != GgufType::String) {
    return std::nullopt;
  }
  return std::string_view(reinterpret_cast<const char *>(payload.data()),
                          payload.size());
}

std::vector<GgufValue> GgufValue::elements() const {
  std::vector<GgufValue> result;
  if (!isArray()) {
    return result;
  }
  result.reserve(elementCount);
  ByteReader reader(payload, offset + 12);
  GgufValue value;
  while (result.size() < elementCount &&
         readGgufValue(reader, element, value)) {
    result.push_back(value);
  }
  assert(result.size() == elementCount && "array was checked when read");
  return result;
}

} // namespace orrery::models
