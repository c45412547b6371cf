// Rows of f32 compared bit for bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

namespace orrery::runtime {

struct BitDifference {
  uint32_t position; ///< of the token
  size_t element;
  uint32_t expected, found; ///< bit patterns
};

/// A token that one side takes for the most likely, and the other does not.
struct ChoiceDifference {
  uint32_t position;
  int32_t expected, found;
};

/// Counts what was compared; keeps the first difference.
class BitCompare {
public:
  void add(uint32_t position, std::span<const float> expected,
           std::span<const float> found) {
    ++rowCount;
    // Where one row ends before the other, they differ.
    size_t most = std::max(expected.size(), found.size());
    for (size_t i = 0; i < most; ++i) {
      auto e = bitsOf(expected, i), f = bitsOf(found, i);
      if (e != f) {
        ++differing;
        if (!firstFound) {
          firstFound = {position, i, e.value_or(0), f.value_or(0)};
        }
      }
    }
    valueCount += most;
  }

  /// The greedy ids after the token at `position`: they do not follow from
  /// equal rows where several chips choose together.
  void addChoice(uint32_t position, int32_t expected, int32_t found) {
    ++choiceCount;
    if (expected != found) {
      ++otherChoiceCount;
      if (!firstOtherChoice) {
        firstOtherChoice = {position, expected, found};
      }
    }
  }

  uint64_t rows() const { return rowCount; }
  uint64_t values() const { return valueCount; }
  uint64_t different() const { return differing; }
  const std::optional<BitDifference> &first() const { return firstFound; }
  uint64_t choices() const { return choiceCount; }
  uint64_t otherChoices() const { return otherChoiceCount; }
  const std::optional<ChoiceDifference> &firstChoice() const {
    return firstOtherChoice;
  }

private:
  static std::optional<uint32_t> bitsOf(std::span<const float> row, size_t i) {
    return i < row.size() ? std::optional(std::bit_cast<uint32_t>(row[i]))
                          : std::nullopt;
  }

  uint64_t rowCount = 0, valueCount = 0, differing = 0;
  uint64_t choiceCount = 0, otherChoiceCount = 0;
  std::optional<BitDifference> firstFound;
  std::optional<ChoiceDifference> firstOtherChoice;
};

} // namespace orrery::runtime
