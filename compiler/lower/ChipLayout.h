// How the compiler divides the slices of a chip.
//
// Next to the VXM, in each hemisphere, stand the *data slices*: temporaries,
// tables, KV cache. Beyond them stand *weight groups* as wide as one plane can
// install, so that weights stream at full rate and never share a read port
// with the vectors of the layer in flight.
//
// Decision: at least 12 data slices a hemisphere, i.e. three f32 operands from
// each side of the VXM in one cycle; the rest goes to weight groups. Cost: on
// lpu-v1 24 of 88 slices hold no weights.
#pragma once

#include "machine/Machine.h"

namespace orrery {

struct ChipLayout {
  explicit ChipLayout(const Machine &machine);

  int32_t lanes, slicesPerHemisphere, planesPerHemisphere;
  int32_t groupWidth; ///< slices of a weight group; streams of an install
  int32_t groups;     ///< weight groups a hemisphere
  int32_t dataSlices; ///< a hemisphere
  int32_t kvWidth;    ///< slices a KV tile is striped over; divides lanes

  /// First slice of the data slices of hemisphere `side` (0 west, 1 east).
  int32_t dataFirst(int32_t side) const {
    return side == 0 ? slicesPerHemisphere - dataSlices : slicesPerHemisphere;
  }
  int32_t groupFirst(int32_t side, int32_t group) const {
    return side == 0
               ? slicesPerHemisphere - dataSlices - (group + 1) * groupWidth
               : slicesPerHemisphere + dataSlices + group * groupWidth;
  }
  int32_t planes() const { return 2 * planesPerHemisphere; }
  int32_t sideOfPlane(int32_t plane) const {
    return plane < planesPerHemisphere ? 0 : 1;
  }
  int32_t sideOfSlice(int32_t slice) const {
    return slice < slicesPerHemisphere ? 0 : 1;
  }

  static constexpr int32_t kMinDataSlices = 12;
};

/// Of a bank's addresses above `lasting`, which weights, tables and KV leave
/// free, the top quarter is for program text: from the one returned to `depth`.
inline uint32_t textFloor(uint32_t lasting, uint32_t depth) {
  return depth - (depth - lasting) / 4;
}

} // namespace orrery
