// Names from a file, made fit for a one-line message.
#pragma once

#include <string>
#include <string_view>

namespace orrery::models {

/// `text` in double quotes; control bytes and quotes as \xNN, cut after 80
/// bytes.
std::string quoted(std::string_view text);

} // namespace orrery::models
