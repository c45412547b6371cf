// What each instruction of a program drives onto streams and takes from them,
// and when: the checker's own reading of the instruction set.
#pragma once

#include "machine/Program.h"

#include <optional>
#include <vector>

namespace orrery::check {

/// A group of neighbouring streams that one instruction drives.
struct Drive {
  uint32_t instruction;
  Direction direction;
  uint8_t stream, width;
  Position stop;
  Tick diagonal; ///< of vector 0; the same on all streams of the group
  BurstShape shape;
  /// What the bytes mean; none for SRAM reads, the SXM and links between chips,
  /// which do not say.
  std::optional<StreamType> type;
  Position position; ///< of the unit that drives stream 0 of the group
  int32_t slice;     ///< a read's first slice, else -1

  /// Where stream `slot` of the group starts.
  Position origin(const Geometry &g, int slot) const {
    return slice < 0 ? position : g.ofSlice(slice + slot);
  }
};

/// A group of neighbouring streams that one instruction takes from.
struct Take {
  uint32_t instruction;
  uint8_t operand; ///< which of the instruction's operands
  Direction direction;
  uint8_t stream, width;
  Tick diagonal;
  BurstShape shape;
  std::optional<StreamType> type; ///< what the bytes must mean
  bool grouped;                   ///< the streams together carry one value
  Position position;
  int32_t slice;  ///< a write's first slice, else -1
  int32_t slices; ///< striped write: slices that watch every stream, else 0

  /// The first and the last position, in the stream's direction, at which
  /// stream `slot` is taken.
  Position nearest(const Geometry &g, int slot) const;
  Position farthest(const Geometry &g, int slot) const;
};

struct Footprints {
  std::vector<Drive> drives;
  std::vector<Take> takes;
};

/// The streams of every instruction of a well-formed program.
Footprints footprintsOf(const Program &program, const Machine &machine);

/// The tick at which vector `n` of the burst is at `position`.
inline Tick tickAt(const Drive &d, uint64_t n, Position position) {
  return passes(d.direction, d.diagonal + d.shape.at(n), position);
}
inline Tick tickAt(const Take &t, uint64_t n, Position position) {
  return passes(t.direction, t.diagonal + t.shape.at(n), position);
}

} // namespace orrery::check
