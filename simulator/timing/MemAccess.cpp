#include "simulator/timing/MemAccess.h"

#include <algorithm>

namespace orrery::sim {
namespace {

int64_t dynamicTerm(const AddressPattern &p, const StepRegisters &r) {
  switch (p.dynamic) {
  case Dynamic::None:
    return 0;
  case Dynamic::Position:
    return int64_t(r.position) * p.dynamicStep;
  case Dynamic::Chunk:
    return int64_t(r.chunk()) * p.dynamicStep;
  }
  return 0;
}

} // namespace

MemAccess::MemAccess(const ReadOp &op, Tick tick, uint32_t instruction,
                     const Machine &machine, const StepRegisters &registers)
    : instruction(instruction), slice(op.slice), width(op.width), bank(op.bank),
      direction(op.out.ref.direction), ticks(ticksOf(tick, op.shape)),
      geometry(machine.geometry()), registers(registers) {
  check(machine, tick);
  setAddresses(op.address);
  if (low < 0 || high >= machine.sram.vectorsPerBank) {
    throw Illegal(tick, "addresses " + std::to_string(low) + " to " +
                            std::to_string(high) + " of a bank of " +
                            std::to_string(machine.sram.vectorsPerBank));
  }
}

MemAccess::MemAccess(const WriteOp &op, Tick tick, uint32_t instruction,
                     const Machine &machine, const StepRegisters &registers)
    : instruction(instruction), isWrite(true), slice(op.slice), width(op.width),
      bank(op.bank), direction(op.in.direction), ticks(ticksOf(tick, op.shape)),
      geometry(machine.geometry()), registers(registers), write(&op) {
  check(machine, tick);
  if (op.tokenDimension > 2) {
    throw Illegal(tick, "token dimension " + std::to_string(op.tokenDimension) +
                            ", expected 0 to 2");
  }
  if (op.mask == LaneMask::Range &&
      (op.low >= op.high || op.high > machine.lanes)) {
    throw Illegal(tick, "lanes [" + std::to_string(op.low) + ", " +
                            std::to_string(op.high) + ") of " +
                            std::to_string(machine.lanes));
  }
  setAddresses(op.address);
  if (isStriped()) {
    setStripeBox();
  }
  if (low < 0 || high >= machine.sram.vectorsPerBank) {
    throw Illegal(tick, "addresses " + std::to_string(low) + " to " +
                            std::to_string(high) + " of a bank of " +
                            std::to_string(machine.sram.vectorsPerBank));
  }
}

void MemAccess::check(const Machine &machine, Tick tick) const {
  int32_t slices = machine.geometry().slices();
  if (width < 1 || slice + width > slices) {
    throw Illegal(tick, "slices [" + std::to_string(slice) + ", " +
                            std::to_string(slice + width) + ") of " +
                            std::to_string(slices));
  }
  if (bank >= machine.sram.banks) {
    throw Illegal(tick, "bank " + std::to_string(bank) + " of " +
                            std::to_string(machine.sram.banks));
  }
}

void MemAccess::setAddresses(const AddressPattern &p) {
  pattern = &p;
  if (p.extent[0] == 0 || p.extent[1] == 0 || p.extent[2] == 0 ||
      p.count() < count()) {
    throw Illegal(ticks.first,
                  "address pattern of " + std::to_string(p.count()) +
                      " vectors for a burst of " + std::to_string(count()));
  }
  dynamic = dynamicTerm(p, registers);
  low = high = int64_t(p.base) + dynamic;
  for (size_t d = 0; d < 3; ++d) {
    int64_t reach = int64_t(p.step[d]) * (int64_t(p.extent[d]) - 1);
    (reach < 0 ? low : high) += reach;
  }
  // One stride through all of the burst: no division per address.
  linear = p.extent[1] == 1 && p.extent[2] == 1;
  linearBase = int64_t(p.base) + dynamic;
  linearStep = p.step[0];
}

void MemAccess::setStripeBox() {
  int64_t least = INT64_MAX, greatest = INT64_MIN;
  for (uint64_t n = 0; n < count(); ++n) {
    for (uint32_t k = 0; k < uint32_t(width); ++k) {
      onVector(n, k, [&](uint32_t, int64_t a) {
        least = std::min(least, a);
        greatest = std::max(greatest, a);
      });
    }
  }
  if (least <= greatest) {
    low = least;
    high = greatest;
  }
}

Tick MemAccess::firstTick() const {
  return ticks.first + std::min<Tick>(0, skew(uint32_t(width) - 1));
}

Tick MemAccess::lastTick() const {
  return ticks.last() + std::max<Tick>(0, skew(uint32_t(width) - 1));
}

MemAccess::Lanes MemAccess::lanesOf(uint64_t n) const {
  switch (write->mask) {
  case LaneMask::All:
    return {0, registers.lanes};
  case LaneMask::Range:
    return {write->low, write->high};
  case LaneMask::TokenLane: {
    uint32_t token = tokenOf(n);
    if (token >= registers.validTokens) {
      return {0, 0};
    }
    uint32_t lane = (registers.position + token) % registers.lanes;
    return {lane, lane + 1};
  }
  case LaneMask::TokenSpan: {
    uint32_t first = registers.lane();
    return {first, std::min(first + registers.validTokens, registers.lanes)};
  }
  }
  return {0, 0};
}

} // namespace orrery::sim
