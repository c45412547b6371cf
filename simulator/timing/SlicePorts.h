// The ports of the MEM slices: a cycle allows one read issue and one write a
// slice, in different banks, each fed by its own queue.
#pragma once

#include "simulator/timing/MemAccess.h"

#include <vector>

namespace orrery::sim {

class SlicePorts {
public:
  explicit SlicePorts(const Machine &machine)
      : ports(2 * size_t(machine.geometry().slices())) {}

  /// Takes the read or write port of each slice of the range.
  void book(const MemAccess &access, Tick now);

private:
  struct Booking {
    BurstTicks ticks;
    Tick last = 0;
    int32_t bank = 0;
    uint32_t instruction = 0;
  };
  using Port = std::vector<Booking>;
  static void checkBank(const Port &other, int32_t slice, int32_t bank,
                        const BurstTicks &ticks);
  Port &port(int32_t slice, bool write) {
    return ports[2 * size_t(slice) + write];
  }
  std::vector<Port> ports;
};

} // namespace orrery::sim
