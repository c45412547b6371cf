// Cutting bytes into UTF-8 characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery::models {

/// Bytes that a character starting with `lead` claims to have, 1..4; 1 for a
/// byte that starts no character. Looks at the upper four bits only.
size_t utf8ClaimedLength(char lead);

/// Takes the complete characters off the front of `pending` and returns them;
/// bytes that belong to no character come back as U+FFFD, one for each longest
/// piece that could have started one (as WHATWG and Unicode 3.9 recommend). An
/// incomplete character at the end stays, unless `flush`.
std::string takeUtf8(std::string &pending, bool flush);

} // namespace orrery::models
