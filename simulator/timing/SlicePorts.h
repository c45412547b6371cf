// The ports of the MEM slices: a cycle allows one read issue and one write a
// slice, in different banks, each fed by its own queue. A fetch of the ICU goes
// through the read port like a read.
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
  /// Takes the read port of one slice for a fetch.
  void bookFetch(int32_t slice, int32_t bank, const BurstTicks &ticks,
                 uint32_t instruction, Tick now) {
    book(slice, bank, false, ticks, instruction, now);
  }

private:
  struct Booking {
    BurstTicks ticks;
    Tick last = 0;
    int32_t bank = 0;
    uint32_t instruction = 0;
  };
  using Port = std::vector<Booking>;
  void book(int32_t slice, int32_t bank, bool isWrite, const BurstTicks &ticks,
            uint32_t instruction, Tick now);
  static void checkBank(const Port &other, int32_t slice, int32_t bank,
                        const BurstTicks &ticks);
  Port &port(int32_t slice, bool write) {
    return ports[2 * size_t(slice) + write];
  }
  std::vector<Port> ports;
};

} // namespace orrery::sim
