// Parsing and checking of a GGUF file: GgufFile::parse.
//
// Layout: header, metadata entries, tensor infos, padding to the alignment,
// tensor data. Counts and sizes are checked against the bytes that are left
// before anything is reserved, so memory use is bounded by the file's size.
#include "models/ByteReader.h"
#include "models/Gguf.h"
#include "models/QuotedText.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace orrery::models {

namespace {

constexpr uint64_t kMaxKeyBytes = 65535;
constexpr size_t kMaxTensorNameBytes = 63;
constexpr uint32_t kMaxDimensions = 4;

/// Fewest bytes an entry takes: key length, one character, type, u8 value.
constexpr uint64_t kMinEntryBytes = 8 + 1 + 4 + 1;
/// Fewest bytes a tensor info takes: name length, dimensions, type, offset.
constexpr uint64_t kMinTensorBytes = 8 + 4 + 4 + 8;

/// Positions and sizes stay below this, so that sums of two fit 64 bits.
constexpr uint64_t kMaxBytes = std::numeric_limits<int64_t>::max();

std::string foundInstead(const std::string &expected, uint64_t found) {
  return "expected " + expected + ", found " + std::to_string(found);
}

/// `bytes` (at most kMaxBytes) rounded up to `alignment`, a power of two.
uint64_t alignUp(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

} // namespace

class GgufParser {
public:
  explicit GgufParser(std::span<const std::byte> bytes) : reader(bytes) {
    file.fileBytes = bytes;
  }

  Expected<GgufFile> run() {
    if (readHeader() && readEntries() && readAlignment() && readTensors() &&
        checkExtent() && checkOverlap()) {
      return std::move(file);
    }
    return reader.error();
  }

private:
  bool readHeader();
  bool readVersion();
  bool readCount(std::string_view field, uint64_t minimumBytes,
                 uint64_t &count);
  bool readEntries();
  bool readEntry();
  bool readAlignment();
  bool readTensors();
  bool readTensor();
  bool readTensorName(GgufTensor &tensor);
  bool readExtents(GgufTensor &tensor);
  bool readTensorType(GgufTensor &tensor);
  bool readDataOffset(GgufTensor &tensor);
  bool checkExtent();
  bool checkOverlap();

  /// Fails at the info of `tensor`, naming it.
  bool failTensor(const GgufTensor &tensor, std::string_view field,
                  std::string_view message) {
    return reader.fail("tensor " + quoted(tensor.name) + ": " +
                           std::string(field),
                       tensor.infoOffset, message);
  }

  ByteReader reader;
  GgufFile file;
  uint64_t tensorCount = 0;
  uint64_t entryCount = 0;
};

bool GgufParser::readHeader() {
  std::span<const std::byte> magic;
  if (!reader.take("magic", 4, magic)) {
    return false;
  }
  std::string_view text(reinterpret_cast<const char *>(magic.data()), 4);
  if (text != "GGUF") {
    return reader.fail("magic", 0, "expected \"GGUF\", found " + quoted(text));
  }
  return readVersion() &&
         readCount("tensor count", kMinTensorBytes, tensorCount) &&
         readCount("metadata count", kMinEntryBytes, entryCount);
}

bool GgufParser::readVersion() {
  uint64_t at = reader.offset();
  if (!reader.number("version", file.formatVersion)) {
    return false;
  }
  uint32_t version = file.formatVersion;
  if (version == 2 || version == 3) {
    return true;
  }
  if (version != 0 && (version & 0xffff) == 0) {
    return reader.fail("version", at,
                       "expected a little-endian file, found a big-endian one "
                       "(version " +
                           std::to_string(version >> 24) + ")");
  }
  return reader.fail("version", at, foundInstead("2 or 3", version));
}

bool GgufParser::readCount(std::string_view field, uint64_t minimumBytes,
                           uint64_t &count) {
  uint64_t at = reader.offset();
  if (!reader.number(field, count)) {
    return false;
  }
  uint64_t most = reader.remaining() / minimumBytes;
  if (count > most) {
    return reader.fail(
        field, at,
        foundInstead("at most " + std::to_string(most) + " (bytes left)",
                     count));
  }
  return true;
}

bool GgufParser::readEntries() {
  file.entries.reserve(entryCount);
  for (uint64_t index = 0; index < entryCount; ++index) {
    if (!readEntry()) {
      return false;
    }
  }
  return true;
}

bool GgufParser::readEntry() {
  uint64_t at = reader.offset();
  GgufEntry entry;
  if (!reader.string("metadata key", entry.key)) {
    return false;
  }
  if (entry.key.empty() || entry.key.size() > kMaxKeyBytes) {
    return reader.fail(
        "metadata key", at,
        foundInstead("1 to " + std::to_string(kMaxKeyBytes) + " bytes",
                     entry.key.size()));
  }
  if (!file.entryIndex.emplace(entry.key, file.entries.size()).second) {
    return reader.fail("metadata key", at,
                       "expected every key once, found " + quoted(entry.key) +
                           " again");
  }
  uint64_t typeAt = reader.offset();
  uint32_t typeNumber = 0;
  std::string field = "type of " + quoted(entry.key);
  if (!reader.number(field, typeNumber)) {
    return false;
  }
  auto type = static_cast<GgufType>(typeNumber);
  if (ggufTypeName(type) == "?") {
    return reader.fail(field, typeAt, foundInstead("0 to 12", typeNumber));
  }
  ByteReader valueReader = reader;
  if (!readGgufValue(valueReader, type, entry.value)) {
    return reader.fail("value of " + quoted(entry.key), reader.offset(),
                       valueReader.error().message);
  }
  reader = valueReader;
  file.entries.push_back(entry);
  return true;
}

bool GgufParser::readAlignment() {
  const GgufValue *value = file.find("general.alignment");
  if (!value) {
    return true;
  }
  std::string_view field = "general.alignment";
  if (value->type() != GgufType::U32) {
    return reader.fail(field, value->fileOffset(),
                       "expected type u32, found " +
                           std::string(ggufTypeName(value->type())));
  }
  file.alignment = *value->asUnsigned();
  if (file.alignment == 0 || (file.alignment & (file.alignment - 1)) != 0) {
    return reader.fail(field, value->fileOffset(),
                       foundInstead("a power of two", file.alignment));
  }
  return true;
}

bool GgufParser::readTensors() {
  file.tensorInfos.reserve(tensorCount);
  for (uint64_t index = 0; index < tensorCount; ++index) {
    if (!readTensor()) {
      return false;
    }
  }
  file.dataSectionStart = alignUp(reader.offset(), file.alignment);
  return true;
}

bool GgufParser::readTensor() {
  GgufTensor tensor{};
  tensor.infoOffset = reader.offset();
  if (!readTensorName(tensor) || !readExtents(tensor) ||
      !readTensorType(tensor) || !readDataOffset(tensor)) {
    return false;
  }
  file.tensorInfos.push_back(tensor);
  return true;
}

bool GgufParser::readTensorName(GgufTensor &tensor) {
  if (!reader.string("tensor name", tensor.name)) {
    return false;
  }
  if (tensor.name.empty() || tensor.name.size() > kMaxTensorNameBytes) {
    return failTensor(
        tensor, "name",
        foundInstead("1 to " + std::to_string(kMaxTensorNameBytes) + " bytes",
                     tensor.name.size()));
  }
  if (!file.tensorIndex.emplace(tensor.name, file.tensorInfos.size()).second) {
    return failTensor(tensor, "name",
                      "expected every name once, found it again");
  }
  return true;
}

bool GgufParser::readExtents(GgufTensor &tensor) {
  if (!reader.number("tensor dimension count", tensor.dimensions)) {
    return false;
  }
  if (tensor.dimensions > kMaxDimensions) {
    return failTensor(tensor, "dimension count",
                      foundInstead("at most 4", tensor.dimensions));
  }
  tensor.extents = {1, 1, 1, 1};
  tensor.elements = 1;
  for (uint32_t index = 0; index < tensor.dimensions; ++index) {
    uint64_t &extent = tensor.extents[index];
    if (!reader.number("tensor extent", extent)) {
      return false;
    }
    uint64_t product = 0;
    if (extent > kMaxBytes ||
        __builtin_mul_overflow(tensor.elements, extent, &product) ||
        product > kMaxBytes) {
      return failTensor(tensor, "shape",
                        foundInstead("fewer than 2^63 elements, extent " +
                                         std::to_string(index) +
                                         " makes them more",
                                     extent));
    }
    tensor.elements = product;
  }
  return true;
}

bool GgufParser::readTensorType(GgufTensor &tensor) {
  uint32_t number = 0;
  if (!reader.number("tensor type", number)) {
    return false;
  }
  const TensorTypeLayout *layout = findTensorType(number);
  if (!layout) {
    return failTensor(tensor, "type", foundInstead("a known type", number));
  }
  tensor.type = layout->type;
  if (tensor.extents[0] % layout->blockElements != 0) {
    return failTensor(tensor, "shape",
                      foundInstead("rows of a multiple of " +
                                       std::to_string(layout->blockElements) +
                                       " elements for " +
                                       std::string(layout->name),
                                   tensor.extents[0]));
  }
  uint64_t blocks = tensor.elements / layout->blockElements;
  if (__builtin_mul_overflow(blocks, uint64_t(layout->blockBytes),
                             &tensor.sizeBytes) ||
      tensor.sizeBytes > kMaxBytes) {
    return failTensor(tensor, "size",
                      foundInstead("fewer than 2^63 bytes for blocks of " +
                                       std::to_string(layout->blockBytes),
                                   blocks) +
                          " blocks");
  }
  return true;
}

bool GgufParser::readDataOffset(GgufTensor &tensor) {
  if (!reader.number("tensor data offset", tensor.dataOffset)) {
    return false;
  }
  if (tensor.dataOffset % file.alignment != 0) {
    return failTensor(
        tensor, "data offset",
        foundInstead("a multiple of " + std::to_string(file.alignment),
                     tensor.dataOffset));
  }
  return true;
}

/// Every tensor, padded to the alignment, must end inside the file. A file that
/// stops where the data would start is taken as a header without data.
bool GgufParser::checkExtent() {
  uint64_t size = file.fileBytes.size();
  file.headerOnly =
      size <= file.dataSectionStart &&
      std::any_of(
          file.tensorInfos.begin(), file.tensorInfos.end(),
          [](const GgufTensor &tensor) { return tensor.sizeBytes != 0; });
  for (const GgufTensor &tensor : file.tensorInfos) {
    uint64_t padded = alignUp(tensor.sizeBytes, file.alignment);
    uint64_t end = 0;
    if (padded > kMaxBytes ||
        __builtin_add_overflow(tensor.dataOffset, padded, &end) ||
        __builtin_add_overflow(end, file.dataSectionStart, &end) ||
        end > kMaxBytes) {
      return failTensor(tensor, "data",
                        foundInstead("an end below byte 2^63, size " +
                                         std::to_string(tensor.sizeBytes),
                                     tensor.dataOffset) +
                            " as offset");
    }
    if (tensor.sizeBytes != 0 && !file.headerOnly && end > size) {
      return failTensor(tensor, "data",
                        foundInstead("an end (padded to " +
                                         std::to_string(file.alignment) +
                                         ") at byte " + std::to_string(end),
                                     size) +
                            " bytes in the file");
    }
  }
  return true;
}

bool GgufParser::checkOverlap() {
  std::vector<const GgufTensor *> byOffset;
  for (const GgufTensor &tensor : file.tensorInfos) {
    if (tensor.sizeBytes != 0) {
      byOffset.push_back(&tensor);
    }
  }
  std::sort(byOffset.begin(), byOffset.end(),
            [](const GgufTensor *left, const GgufTensor *right) {
              return std::pair(left->dataOffset, left->infoOffset) <
                     std::pair(right->dataOffset, right->infoOffset);
            });
  for (size_t index = 1; index < byOffset.size(); ++index) {
    const GgufTensor &before = *byOffset[index - 1];
    const GgufTensor &tensor = *byOffset[index];
    uint64_t end = before.dataOffset + before.sizeBytes;
    if (tensor.dataOffset < end) {
      return failTensor(tensor, "data offset",
                        foundInstead("at least " + std::to_string(end) +
                                         " (the end of " + quoted(before.name) +
                                         ")",
                                     tensor.dataOffset));
    }
  }
  return true;
}

Expected<GgufFile> GgufFile::parse(std::span<const std::byte> bytes) {
  return GgufParser(bytes).run();
}

} // namespace orrery::models
