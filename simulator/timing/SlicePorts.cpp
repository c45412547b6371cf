#include "simulator/timing/SlicePorts.h"

namespace orrery::sim {
namespace {

std::string sliceName(const char *what, int32_t slice) {
  return std::string(what) + " of slice " + std::to_string(slice);
}

} // namespace

/// No tick of `ticks` is one at which the other port of the slice has the bank.
void SlicePorts::checkBank(const Port &other, int32_t slice, int32_t bank,
                           const BurstTicks &ticks) {
  for (const Booking &b : other) {
    if (b.bank == bank && meet(b.ticks, ticks)) {
      throw Illegal(ticks.first,
                    sliceName("bank", slice) + ": bank " +
                        std::to_string(bank) + " is accessed by instruction " +
                        std::to_string(b.instruction) + " in the same cycle");
    }
  }
}

void SlicePorts::book(const MemAccess &access, Tick now) {
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    book(access.slice + int32_t(k), access.bank, access.isWrite,
         access.ticksAt(k), access.instruction, now);
  }
}

void SlicePorts::book(int32_t slice, int32_t bank, bool isWrite,
                      const BurstTicks &ticks, uint32_t instruction, Tick now) {
  Tick last = ticks.last();
  Port &own = port(slice, isWrite);
  size_t kept = 0;
  for (const Booking &b : own) {
    if (b.last < now) {
      continue;
    }
    if (ticks.first <= b.last && b.ticks.first <= last) {
      throw Illegal(
          ticks.first,
          "the " + sliceName(isWrite ? "write queue" : "read queue", slice) +
              " is taken by instruction " + std::to_string(b.instruction) +
              " in cycles " + std::to_string(b.ticks.first) + " to " +
              std::to_string(b.last));
    }
    if (&own[kept] != &b) {
      own[kept] = b;
    }
    ++kept;
  }
  own.resize(kept);
  checkBank(port(slice, !isWrite), slice, bank, ticks);
  Booking &booking = own.emplace_back();
  booking.ticks = ticks;
  booking.last = last;
  booking.bank = bank;
  booking.instruction = instruction;
}

} // namespace orrery::sim
