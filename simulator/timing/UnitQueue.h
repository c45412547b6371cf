// One instruction queue: its instructions do not overlap in time, from the
// tick of the first vector to that of the last.
#pragma once

#include "simulator/timing/Illegal.h"

#include <string>
#include <vector>

namespace orrery::sim {

class UnitQueue {
public:
  /// Books [first, last] for `instruction`. `now` is the current cycle: what
  /// ended before it is forgotten.
  void book(Tick first, Tick last, uint32_t instruction, Tick now) {
    size_t kept = 0;
    for (const Booking &b : bookings) {
      if (b.last < now) {
        continue;
      }
      if (first <= b.last && b.first <= last) {
        throw Illegal(first, "the queue is taken by instruction " +
                                 std::to_string(b.instruction) + " in cycles " +
                                 std::to_string(b.first) + " to " +
                                 std::to_string(b.last));
      }
      bookings[kept++] = b;
    }
    bookings.resize(kept);
    bookings.push_back({first, last, instruction});
  }

private:
  struct Booking {
    Tick first, last;
    uint32_t instruction;
  };
  std::vector<Booking> bookings;
};

} // namespace orrery::sim
