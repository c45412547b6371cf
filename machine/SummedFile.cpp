#include "machine/SummedFile.h"

#include "machine/Program.h"

#include <algorithm>

namespace orrery {

namespace {

constexpr size_t kChecksumBytes = 8;
/// A FlatBuffer's root offset and file identifier.
constexpr size_t kIdentifierAt = 4;
constexpr size_t kHeadBytes = 8;

uint64_t checksum(std::span<const uint8_t> bytes) {
  return stableHash(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

uint64_t storedChecksum(std::span<const uint8_t> bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    sum |= uint64_t(bytes[i]) << (8 * i);
  }
  return sum;
}

} // namespace

bool hasIdentifier(std::span<const uint8_t> file, FileIdentifier identifier) {
  return file.size() >= kHeadBytes + kChecksumBytes &&
         std::ranges::equal(file.subspan(kIdentifierAt, identifier.size()),
                            identifier, {}, {},
                            [](char c) { return uint8_t(c); });
}

void appendChecksum(std::vector<uint8_t> &file) {
  uint64_t sum = checksum(file);
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    file.push_back(uint8_t(sum >> (8 * i)));
  }
}

Error tooLarge(uint64_t bytes, uint64_t limit) {
  return {"expected at most " + std::to_string(limit) + " bytes, found " +
          std::to_string(bytes)};
}

Expected<std::vector<uint8_t>> checkedBuffer(std::span<const uint8_t> file,
                                             FileIdentifier identifier,
                                             uint64_t limit) {
  if (file.size() > limit) {
    return tooLarge(file.size(), limit);
  }
  if (!hasIdentifier(file, identifier)) {
    return Error{"expected a program file (\"" + std::string(identifier) +
                 "\" at byte 4), found another kind"};
  }
  auto body = file.first(file.size() - kChecksumBytes);
  if (storedChecksum(file.last(kChecksumBytes)) != checksum(body)) {
    return Error{"expected the checksum of its bytes, found another: the file "
                 "is damaged or cut short"};
  }
  return std::vector<uint8_t>(body.begin(), body.end());
}

} // namespace orrery
