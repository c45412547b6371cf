// The values of a burst, computed when somebody needs them. Vectors of every
// burst are computed one after another: a vector depends only on what happened
// before its own cycle, so this order always exists.
#pragma once

#include "machine/Geometry.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace orrery::sim {

class ReadValues;

class BurstValues {
public:
  virtual ~BurstValues() = default;
  /// Computes vectors up to and including `vector`, at least of this stream.
  /// Only for a vector whose cycle has come on that stream.
  virtual void require(uint64_t vector, uint32_t stream) = 0;
  /// The `lanes` bytes of a vector on one stream of the burst, once required.
  virtual const uint8_t *plane(uint64_t vector, uint32_t stream) const = 0;
  /// Itself, when the values come straight from SRAM.
  virtual const ReadValues *asRead() const { return nullptr; }
};

/// A consumer's view of one stream: its vector i.
struct Operand {
  std::shared_ptr<BurstValues> values;
  uint32_t stream = 0;
  uint64_t first = 0;

  void require(uint64_t i) const { values->require(first + i, stream); }
  const uint8_t *plane(uint64_t i) const {
    return values->plane(first + i, stream);
  }
};
/// One operand a stream of a group.
using Operands = std::vector<Operand>;

/// A value that must not be: not finite, or out of the accumulator's range.
struct BadValue {
  uint32_t instruction;
  Tick due;
  std::string found;
};

} // namespace orrery::sim
