#include "simulator/timing/SlicePorts.h"

namespace orrery::sim {
namespace {

std::string sliceName(const char *what, int32_t slice) {
  return std::string(what) + " of slice " + std::to_string(slice);
}

} // namespace

void SlicePorts::book(const MemAccess &access, Tick now) {
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    int32_t slice = access.slice + int32_t(k);
    BurstTicks ticks = access.ticksAt(k);
    Tick last = ticks.last();
    Port &own = port(slice, access.isWrite);
    size_t kept = 0;
    for (const Booking &b : own) {
      Tick otherLast = b.ticks.last();
      if (otherLast < now) {
        continue;
      }
      if (ticks.first <= otherLast && b.ticks.first <= last) {
        throw Illegal(
            ticks.first,
            "the " +
                sliceName(access.isWrite ? "write queue" : "read queue",
                          slice) +
                " is taken by instruction " + std::to_string(b.instruction) +
                " in cycles " + std::to_string(b.ticks.first) + " to " +
                std::to_string(otherLast));
      }
      own[kept++] = b;
    }
    own.resize(kept);
    for (const Booking &b : port(slice, !access.isWrite)) {
      if (b.bank == access.bank && meet(b.ticks, ticks)) {
        throw Illegal(ticks.first, sliceName("bank", slice) + ": bank " +
                                       std::to_string(access.bank) +
                                       " is accessed by instruction " +
                                       std::to_string(b.instruction) +
                                       " in the same cycle");
      }
    }
    own.push_back({ticks, access.bank, access.instruction});
  }
}

} // namespace orrery::sim
