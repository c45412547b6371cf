// Files read and written whole: descriptions and programs.
#pragma once

#include "machine/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// The bytes of a regular file of at most `limit` bytes. The error does not
/// name the file.
Expected<std::vector<uint8_t>> readWholeFile(const std::string &path,
                                             uint64_t limit);

/// Makes `path` a file of these bytes: all of them or, after an error, what
/// was there before. Writes beside it, then renames.
Status replaceFile(const std::string &path, std::span<const uint8_t> bytes);

} // namespace orrery
