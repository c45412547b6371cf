// Vectors that come from the host: f32 rows of the step's input.
#pragma once

#include "simulator/function/BufferPool.h"
#include "simulator/function/BurstValues.h"
#include "simulator/function/Lanes.h"

namespace orrery::sim {

class HostValues final : public BurstValues {
public:
  /// `rows` [count][lanes] f32.
  HostValues(const float *rows, uint64_t count, int32_t lanes, BufferPool &pool)
      : lanes(lanes), planes(pool.take(count * 4 * size_t(lanes))) {
    for (uint64_t n = 0; n < count; ++n) {
      scatterF32(rows + n * size_t(lanes), lanes,
                 planes.data() + n * 4 * size_t(lanes));
    }
  }
  void require(uint64_t, uint32_t) override {}
  const uint8_t *plane(uint64_t vector, uint32_t stream) const override {
    return planes.data() + (vector * 4 + stream) * size_t(lanes);
  }

private:
  int32_t lanes;
  Buffer planes;
};

} // namespace orrery::sim
