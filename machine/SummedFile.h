// A FlatBuffer with its checksum behind it: the form of program files. The
// checksum is the little-endian FNV-1a 64 of all bytes before it.
#pragma once

#include "machine/Result.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace orrery {

/// The four bytes of a FlatBuffer that say what it holds.
using FileIdentifier = std::string_view;

/// Whether a file claims to be of this kind; the rest may be wrong.
bool hasIdentifier(std::span<const uint8_t> file, FileIdentifier identifier);

void appendChecksum(std::vector<uint8_t> &file);

/// The FlatBuffer in a file of at most `limit` bytes whose identifier and
/// checksum are right, copied to an address that FlatBuffers can read in place.
Expected<std::vector<uint8_t>> checkedBuffer(std::span<const uint8_t> file,
                                             FileIdentifier identifier,
                                             uint64_t limit);

Error tooLarge(uint64_t bytes, uint64_t limit);

} // namespace orrery
