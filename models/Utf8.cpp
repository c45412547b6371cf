#include "models/Utf8.h"

#include <cstdint>

namespace orrery::models {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Range {
  uint8_t low;
  uint8_t high;
};

/// Continuation bytes that must follow `lead`; -1 when it leads nothing.
int continuationCount(uint8_t lead) {
  if (lead < 0x80) {
    return 0;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return 1;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    return 2;
  }
  return lead >= 0xF0 && lead <= 0xF4 ? 3 : -1;
}

/// Values allowed for the first continuation byte (Unicode table 3-7: no
/// overlong forms, no surrogates, nothing above U+10FFFF).
Range firstContinuation(uint8_t lead) {
  switch (lead) {
  case 0xE0:
    return {0xA0, 0xBF};
  case 0xED:
    return {0x80, 0x9F};
  case 0xF0:
    return {0x90, 0xBF};
  case 0xF4:
    return {0x80, 0x8F};
  default:
    return {0x80, 0xBF};
  }
}

struct Step {
  size_t length;   ///< Bytes that belong together, at least 1.
  bool wellFormed; ///< They are a character.
  bool incomplete; ///< They are the start of one that the text cuts off.
};

Step nextCharacter(std::string_view text) {
  auto lead = static_cast<uint8_t>(text[0]);
  int count = continuationCount(lead);
  if (count < 0) {
    return {1, false, false};
  }
  Range range = firstContinuation(lead);
  for (int index = 1; index <= count; ++index) {
    auto position = static_cast<size_t>(index);
    if (position == text.size()) {
      return {position, false, true};
    }
    auto byte = static_cast<uint8_t>(text[position]);
    if (byte < range.low || byte > range.high) {
      return {position, false, false};
    }
    range = {0x80, 0xBF};
  }
  return {static_cast<size_t>(count) + 1, true, false};
}

} // namespace

size_t utf8ClaimedLength(char lead) {
  constexpr uint8_t kLengths[16] = {1, 1, 1, 1, 1, 1, 1, 1,
                                    1, 1, 1, 1, 2, 2, 3, 4};
  return kLengths[static_cast<uint8_t>(lead) >> 4];
}

std::string takeUtf8(std::string &pending, bool flush) {
  std::string result;
  size_t position = 0;
  while (position < pending.size()) {
    std::string_view rest = std::string_view(pending).substr(position);
    Step step = nextCharacter(rest);
    if (step.incomplete && !flush) {
      break;
    }
    result += step.wellFormed ? rest.substr(0, step.length) : kReplacement;
    position += step.length;
  }
  pending.erase(0, position);
  return result;
}

} // namespace orrery::models
