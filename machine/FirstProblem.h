// The first thing found wrong, as one line: path, expected, found. Checks are
// chained with &&, so that nothing is looked at that an earlier check rejected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

class FirstProblem {
public:
  /// Whether `low` <= `value` <= `high`; else this is the problem.
  bool within(std::string_view path, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high) {
      return true;
    }
    std::string expected = std::to_string(low);
    if (low < high) {
      expected += " to " + std::to_string(high);
    } else if (low > high) {
      expected = "nothing, as nothing is in range";
    }
    return fail(path, expected, std::to_string(value));
  }

  /// `good`, with the problem said if it is not.
  bool require(bool good, std::string_view path, std::string_view expected,
               int64_t found) {
    return good || fail(path, expected, std::to_string(found));
  }

  bool fail(std::string_view path, std::string_view expected,
            std::string_view found) {
    text = std::string(path) + ": expected " + std::string(expected) +
           ", found " + std::string(found);
    return false;
  }

  /// The problem in the words of who found it.
  bool fail(std::string_view words) {
    text = words;
    return false;
  }

  const std::string &message() const { return text; }

private:
  std::string text;
};

} // namespace orrery
