#include "gpu-reference/emulation/WarpOps.h"

#include "gpu-reference/emulation/Block.h"
#include "gpu-reference/emulation/Settings.h"

#include <bit>

namespace orrery::gpu::emulated {

void meet(const char *name, uint32_t mask, WarpFunction function,
          const std::source_location &where) {
  Block::current().meetWarp(name, mask, function, where);
}

/// Calls body(lane) for each bit.
template <class Body> static void forEachLane(uint32_t lanes, Body body) {
  for (; lanes != 0; lanes &= lanes - 1) {
    body(unsigned(std::countr_zero(lanes)));
  }
}

void shuffleLanes(WarpWords &lanes, uint32_t present) {
  forEachLane(present, [&](unsigned lane) {
    const uint32_t source = lanes[lane].in[2];
    if (source < 32 && (present >> source & 1) != 0) {
      lanes[lane].out[0] = lanes[source].in[0];
      lanes[lane].out[1] = lanes[source].in[1];
    } else {
      poison(lanes[lane].out.data(), 2 * sizeof(uint32_t));
    }
  });
}

/// Gives all lanes the words of all lanes, combined.
template <class Combine>
static void reduce(WarpWords &lanes, uint32_t present, Combine combine) {
  uint32_t result = lanes[std::countr_zero(present)].in[0];
  forEachLane(present & (present - 1), [&](unsigned lane) {
    result = combine(result, lanes[lane].in[0]);
  });
  forEachLane(present, [&](unsigned lane) { lanes[lane].out[0] = result; });
}

void ballotLanes(WarpWords &lanes, uint32_t present) {
  uint32_t bits = 0;
  forEachLane(present,
              [&](unsigned lane) { bits |= lanes[lane].in[0] << lane; });
  forEachLane(present, [&](unsigned lane) { lanes[lane].out[0] = bits; });
}

void addLanes(WarpWords &lanes, uint32_t present) {
  reduce(lanes, present, [](uint32_t a, uint32_t b) { return a + b; });
}

void orLanes(WarpWords &lanes, uint32_t present) {
  reduce(lanes, present, [](uint32_t a, uint32_t b) { return a | b; });
}

void andLanes(WarpWords &lanes, uint32_t present) {
  reduce(lanes, present, [](uint32_t a, uint32_t b) { return a & b; });
}

void minLanes(WarpWords &lanes, uint32_t present) {
  reduce(lanes, present, [](uint32_t a, uint32_t b) { return a < b ? a : b; });
}

void maxLanes(WarpWords &lanes, uint32_t present) {
  reduce(lanes, present, [](uint32_t a, uint32_t b) { return a > b ? a : b; });
}

void minSignedLanes(WarpWords &lanes, uint32_t present) {
  reduce(lanes, present, [](uint32_t a, uint32_t b) {
    return int32_t(a) < int32_t(b) ? a : b;
  });
}

void maxSignedLanes(WarpWords &lanes, uint32_t present) {
  reduce(lanes, present, [](uint32_t a, uint32_t b) {
    return int32_t(a) > int32_t(b) ? a : b;
  });
}

} // namespace orrery::gpu::emulated
