// The host link in one direction: a vector every `hostVector` ticks at most.
#pragma once

#include "machine/Machine.h"
#include "simulator/timing/BurstTicks.h"
#include "simulator/timing/Illegal.h"

#include <string>

namespace orrery::sim {

class HostLink {
public:
  /// `earliest`: first cycle at which a vector can be at the port.
  HostLink(Tick interval, Tick earliest) : interval(interval), free(earliest) {}

  /// Takes the link for a burst; returns the number of its first vector.
  uint64_t book(const BurstTicks &ticks) {
    if (ticks.first < free) {
      throw Illegal(ticks.first,
                    "the host link is free from cycle " + std::to_string(free));
    }
    const BurstShape &s = ticks.shape;
    bool apart = s.length == 1 || Tick(s.stride) >= interval;
    if (s.runs > 1) {
      apart &= Tick(s.period) - Tick(s.length - 1) * s.stride >= interval;
    }
    if (!apart) {
      throw Illegal(ticks.first, "host vectors closer than " +
                                     std::to_string(interval) + " cycles");
    }
    free = ticks.last() + interval;
    uint64_t first = vectors;
    vectors += ticks.count();
    return first;
  }

  uint64_t count() const { return vectors; }

private:
  Tick interval;
  Tick free;
  uint64_t vectors = 0;
};

} // namespace orrery::sim
