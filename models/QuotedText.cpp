#include "models/QuotedText.h"

namespace orrery::models {

std::string quoted(std::string_view text) {
  constexpr size_t kMaxBytes = 80;
  constexpr char kHex[] = "0123456789abcdef";
  std::string result = "\"";
  for (char character : text.substr(0, kMaxBytes)) {
    auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7f || byte == '"' || byte == '\\') {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      result += character;
    }
  }
  return result + (text.size() > kMaxBytes ? "…\"" : "\"");
}

} // namespace orrery::models
