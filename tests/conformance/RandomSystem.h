// A model shape on a system of chips: what RandomCase.h draws, but for a system
// around the chip and a way to divide the model.
//
// Ranks that do not divide heads, feed-forward or vocabulary, more ranks than
// KV heads, layers that stages do not divide or that are three stages each, a
// head that is a stage of its own; chips linked in every way that a machine
// description can say.
#pragma once

#include "tests/conformance/RandomCase.h"

namespace orrery::test {

struct RandomSystem {
  RandomCase drawn;     ///< its options say the split
  std::string topology; ///< JSON, as in the machine

  /// All that was drawn, in one line.
  std::string text() const;
};

RandomSystem drawSystem(uint64_t seed);

/// The same model and split, on groups with up to three parallel cables and up
/// to two third chips between them, in any order of chips.
RandomSystem drawRoutes(uint64_t seed);

} // namespace orrery::test
