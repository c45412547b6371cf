// A read or write with its step registers applied: which vectors of which
// slices it touches, and when. The one place that knows wide and striped forms.
#pragma once

#include "machine/Machine.h"
#include "simulator/timing/BurstTicks.h"
#include "simulator/timing/Illegal.h"
#include "simulator/timing/StepRegisters.h"

namespace orrery::sim {

class MemAccess {
public:
  /// Checks slices, bank, shape, pattern and addresses; Illegal if outside.
  MemAccess(const ReadOp &op, Tick tick, uint32_t instruction,
            const Machine &machine, const StepRegisters &registers);
  MemAccess(const WriteOp &op, Tick tick, uint32_t instruction,
            const Machine &machine, const StepRegisters &registers);

  uint32_t instruction = 0;
  bool isWrite = false;
  int32_t slice = 0, width = 1, bank = 0;
  Direction direction = Direction::East;
  BurstTicks ticks;          ///< at the first slice of the range
  int64_t low = 0, high = 0; ///< least and greatest address touched

  uint64_t count() const { return ticks.count(); }
  Position positionOf(uint32_t k) const {
    return geometry.ofSlice(slice + int32_t(k));
  }
  /// Slice k of the range acts this much later than slice 0.
  Tick skew(uint32_t k) const {
    Tick apart = positionOf(k) - positionOf(0);
    return direction == Direction::East ? apart : -apart;
  }
  BurstTicks ticksAt(uint32_t k) const { return ticks.shifted(skew(k)); }
  Tick firstTick() const;
  Tick lastTick() const;

  /// Address of vector n (of its stripe origin in a striped write).
  int64_t address(uint64_t n) const {
    return linear ? linearBase + int64_t(n) * linearStep
                  : pattern->at(n) + dynamic;
  }
  bool isStriped() const { return write != nullptr && write->stripeBytes > 0; }
  uint32_t streams() const {
    return isStriped() ? write->stripeBytes : uint32_t(width);
  }
  /// Lanes [low, high) that vector n of a write changes; empty for a token
  /// that is not valid.
  struct Lanes {
    uint32_t low, high;
  };
  Lanes lanesOf(uint64_t n) const;
  /// Whether vectors of tokens that are not valid change no lane.
  bool skipsTokens() const {
    return write != nullptr && !isStriped() &&
           write->mask == LaneMask::TokenLane;
  }
  /// All lanes of every vector, whatever the step registers say.
  bool writesWhole() const {
    return write != nullptr && !isStriped() && write->mask == LaneMask::All;
  }

  /// Calls f(stream, address) for what vector n does in slice k of the range.
  template <class F> void onVector(uint64_t n, uint32_t k, F f) const {
    if (!isStriped()) {
      f(k, address(n));
      return;
    }
    uint32_t token = tokenOf(n);
    if (token >= registers.validTokens) {
      return;
    }
    uint32_t row = registers.position + token;
    int64_t origin =
        address(n) + int64_t(row / registers.lanes) * write->stripeStep;
    uint32_t u = (row % registers.lanes) * write->stripeBytes;
    for (uint32_t b = 0; b < write->stripeBytes; ++b, ++u) {
      if (u % uint32_t(width) == k) {
        f(b, origin + u / uint32_t(width));
      }
    }
  }

  const AddressPattern &addresses() const { return *pattern; }
  /// One step between any two addresses that follow each other.
  bool isLinear() const { return linear; }

private:
  void setAddresses(const AddressPattern &p);
  void setStripeBox();
  void check(const Machine &machine, Tick tick) const;
  uint32_t tokenOf(uint64_t n) const {
    return pattern->indices(n)[write->tokenDimension];
  }

  Geometry geometry;
  StepRegisters registers;
  const AddressPattern *pattern = nullptr;
  const WriteOp *write = nullptr;
  int64_t dynamic = 0;
  bool linear = false;
  int64_t linearBase = 0, linearStep = 0;
};

} // namespace orrery::sim
