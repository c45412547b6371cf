#include "models/Gguf.h"

#include "models/QuotedText.h"

#include <utility>

namespace orrery::models {

namespace {

Error missing(std::string_view key, std::string_view expected) {
  return Error{"metadata " + quoted(key) + ": expected " +
               std::string(expected) + ", found no such key"};
}

Error wrongType(std::string_view key, std::string_view expected,
                const GgufValue &value) {
  std::string found(ggufTypeName(value.type()));
  if (std::optional<int64_t> number = value.asSigned()) {
    found += " " + std::to_string(*number);
  }
  return Error{"byte " + std::to_string(value.fileOffset()) + ": metadata " +
               quoted(key) + ": expected " + std::string(expected) +
               ", found " + found};
}

constexpr std::string_view kUnsigned = "an integer of 0 or more";
constexpr std::string_view kFloat = "f32 or f64";

} // namespace

std::string GgufTensor::shapeText() const {
  std::string text = "[";
  for (uint32_t index = 0; index < dimensions; ++index) {
    text += (index ? ", " : "") + std::to_string(extents[index]);
  }
  return text + "]";
}

Expected<GgufFile> GgufFile::open(const std::string &path) {
  Expected<MappedFile> mapping = MappedFile::open(path);
  if (!mapping) {
    return mapping.error();
  }
  Expected<GgufFile> file = parse(mapping->bytes());
  if (!file) {
    return Error{path + ": " + file.error().message};
  }
  file->mapping = std::move(*mapping);
  return file;
}

const GgufValue *GgufFile::find(std::string_view key) const {
  auto found = entryIndex.find(key);
  return found == entryIndex.end() ? nullptr : &entries[found->second].value;
}

const GgufTensor *GgufFile::findTensor(std::string_view name) const {
  auto found = tensorIndex.find(name);
  return found == tensorIndex.end() ? nullptr : &tensorInfos[found->second];
}

Expected<uint64_t> GgufFile::requireUnsigned(std::string_view key) const {
  return find(key) ? unsignedOr(key, 0)
                   : Expected<uint64_t>(missing(key, kUnsigned));
}

Expected<double> GgufFile::requireFloat(std::string_view key) const {
  return find(key) ? floatOr(key, 0) : Expected<double>(missing(key, kFloat));
}

Expected<std::string_view> GgufFile::requireString(std::string_view key) const {
  const GgufValue *value = find(key);
  if (!value) {
    return missing(key, "a string");
  }
  std::optional<std::string_view> text = value->asString();
  return text ? Expected<std::string_view>(*text)
              : wrongType(key, "a string", *value);
}

Expected<uint64_t> GgufFile::unsignedOr(std::string_view key,
                                        uint64_t fallback) const {
  const GgufValue *value = find(key);
  if (!value) {
    return fallback;
  }
  std::optional<uint64_t> number = value->asUnsigned();
  return number ? Expected<uint64_t>(*number)
                : wrongType(key, kUnsigned, *value);
}

Expected<double> GgufFile::floatOr(std::string_view key,
                                   double fallback) const {
  const GgufValue *value = find(key);
  if (!value) {
    return fallback;
  }
  std::optional<double> number = value->asFloat();
  return number ? Expected<double>(*number) : wrongType(key, kFloat, *value);
}

Expected<bool> GgufFile::boolOr(std::string_view key, bool fallback) const {
  const GgufValue *value = find(key);
  if (!value) {
    return fallback;
  }
  std::optional<bool> flag = value->asBool();
  return flag ? Expected<bool>(*flag) : wrongType(key, "a bool", *value);
}

Expected<std::span<const std::byte>>
GgufFile::data(const GgufTensor &tensor) const {
  if (!isLoadable(tensor.type)) {
    return Error{"byte " + std::to_string(tensor.infoOffset) + ": tensor " +
                 quoted(tensor.name) + ": type " +
                 std::string(layoutOf(tensor.type).name) +
                 " cannot be loaded (supported: " +
                 std::string(loadableTypeNames()) + ")"};
  }
  if (headerOnly && tensor.sizeBytes != 0) {
    return Error{"tensor " + quoted(tensor.name) + ": expected " +
                 std::to_string(tensor.sizeBytes) +
                 " bytes of data, found a file that ends with its header"};
  }
  if (tensor.sizeBytes == 0) {
    return std::span<const std::byte>();
  }
  return fileBytes.subspan(dataSectionStart + tensor.dataOffset,
                           tensor.sizeBytes);
}

} // namespace orrery::models
