// Where the units of an `lpu` chip stand, west to east, and what that means
// for time: the stream diagonals.
//
// Positions, for S slices and P planes per hemisphere:
//   0 .. P-1        MXM planes of the west hemisphere (plane 0 outermost)
//   P               SXM west
//   P+1 .. P+S      MEM slices 0 .. S-1 (slice S-1 next to the VXM)
//   P+S+1           VXM
//   P+S+2 .. P+2S+1 MEM slices S .. 2S-1 (slice S next to the VXM)
//   P+2S+2          SXM east
//   P+2S+3 .. 2P+2S+2  MXM planes P .. 2P-1 (plane 2P-1 outermost)
//   2P+2S+3         host port
#pragma once

#include <cstdint>

namespace orrery {

/// A cycle of the system clock, counted from the start of a token step.
using Tick = int64_t;
/// A place in the row of units, 0 at the west edge.
using Position = int32_t;
using Bytes = int64_t;

enum class Direction : uint8_t { East = 0, West = 1 };
enum class Hemisphere : uint8_t { West = 0, East = 1 };

inline Direction opposite(Direction d) {
  return d == Direction::East ? Direction::West : Direction::East;
}
/// The direction from the chip's centre to the edge of hemisphere `h`.
inline Direction outward(Hemisphere h) {
  return h == Hemisphere::West ? Direction::West : Direction::East;
}
inline Direction inward(Hemisphere h) { return opposite(outward(h)); }

/// Slices are numbered west to east over the whole chip, 0 .. 2S-1; planes
/// 0 .. 2P-1; SXM 0 (west) and 1 (east).
struct Geometry {
  int32_t slicesPerHemisphere;
  int32_t planesPerHemisphere;

  int32_t slices() const { return 2 * slicesPerHemisphere; }
  int32_t planes() const { return 2 * planesPerHemisphere; }
  Position ofPlane(int32_t plane) const {
    return plane < planesPerHemisphere ? plane
                                       : plane + 2 * slicesPerHemisphere + 3;
  }
  Position ofSxm(int32_t sxm) const {
    return sxm == 0 ? planesPerHemisphere
                    : planesPerHemisphere + 2 * slicesPerHemisphere + 2;
  }
  Position ofSlice(int32_t slice) const {
    return planesPerHemisphere + 1 + slice +
           (slice < slicesPerHemisphere ? 0 : 1);
  }
  Position ofVxm() const {
    return planesPerHemisphere + slicesPerHemisphere + 1;
  }
  Position ofHost() const {
    return 2 * planesPerHemisphere + 2 * slicesPerHemisphere + 3;
  }
  Hemisphere hemisphereOfSlice(int32_t slice) const {
    return slice < slicesPerHemisphere ? Hemisphere::West : Hemisphere::East;
  }
  Hemisphere hemisphereOfPlane(int32_t plane) const {
    return plane < planesPerHemisphere ? Hemisphere::West : Hemisphere::East;
  }
};

/// The space-time invariant of a stream: a vector at position p in cycle t
/// stays on `diagonal(d, t, p)` as it moves one position a cycle.
inline Tick diagonal(Direction d, Tick tick, Position position) {
  return d == Direction::East ? tick - position : tick + position;
}
/// The cycle at which the vector on `diagonal` passes `position`.
inline Tick passes(Direction d, Tick diagonal, Position position) {
  return d == Direction::East ? diagonal + position : diagonal - position;
}

} // namespace orrery
