// Vectors that cross a link to another chip: bytes of any number of streams.
#pragma once

#include "simulator/function/BufferPool.h"
#include "simulator/function/BurstValues.h"

#include <cstring>
#include <functional>

namespace orrery::sim {

class LinkValues final : public BurstValues {
public:
  /// `count` vectors of one stream an operand. `compute(n)` makes the sender
  /// take vectors up to n: what is wrong with them is wrong on its chip.
  LinkValues(Operands operands, uint64_t count, int32_t lanes, BufferPool &pool,
             std::function<void(uint64_t)> compute)
      : operands(std::move(operands)), count(count), lanes(size_t(lanes)),
        streams(this->operands.size()), compute(std::move(compute)),
        planes(pool.take(count * streams * size_t(lanes))) {}

  void require(uint64_t vector, uint32_t) override {
    if (vector >= done) {
      compute(vector);
    }
  }
  const uint8_t *plane(uint64_t vector, uint32_t stream) const override {
    return planes.data() + (vector * streams + stream) * lanes;
  }

  /// The sender's part of `compute`.
  void take(uint64_t upTo) {
    for (; done <= upTo; ++done) {
      for (size_t k = 0; k < streams; ++k) {
        operands[k].require(done);
        std::memcpy(planes.data() + (done * streams + k) * lanes,
                    operands[k].plane(done), lanes);
      }
    }
    if (done == count) {
      operands.clear(); // the producers are no longer needed
    }
  }

private:
  Operands operands;
  uint64_t count;
  size_t lanes, streams;
  std::function<void(uint64_t)> compute;
  Buffer planes;     ///< [vector][stream][lane]
  uint64_t done = 0; ///< vectors taken
};

} // namespace orrery::sim
