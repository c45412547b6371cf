#include "compiler/lower/ChipLayout.h"

#include <algorithm>

namespace orrery {

ChipLayout::ChipLayout(const Machine &m)
    : lanes(m.lanes), slicesPerHemisphere(m.sram.slicesPerHemisphere),
      planesPerHemisphere(m.matrix.planesPerHemisphere),
      groupWidth(m.matrix.installStreams),
      groups(std::max(0, (slicesPerHemisphere - kMinDataSlices) / groupWidth)),
      dataSlices(slicesPerHemisphere - groups * groupWidth), kvWidth(1) {
  int32_t widest = std::min(groupWidth, dataSlices);
  for (int32_t width = 1; width <= widest; ++width) {
    if (lanes % width == 0) {
      kvWidth = width;
    }
  }
}

} // namespace orrery
