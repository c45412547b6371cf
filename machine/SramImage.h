// The bytes of every SRAM slice of a chip, as the host loads them before the
// first step and as the simulator keeps them.
#pragma once

#include "machine/Machine.h"

#include <cstdint>
#include <vector>

namespace orrery {

/// [slice][bank][address][lane], all zero at first.
class SramImage {
public:
  explicit SramImage(const Machine &m)
      : lanes(m.lanes), banks(m.sram.banks), depth(m.sram.vectorsPerBank),
        bytes(size_t(m.sramBytes())) {}

  uint8_t *vector(int32_t slice, int32_t bank, int64_t address) {
    return bytes.data() + offset(slice, bank, address);
  }
  const uint8_t *vector(int32_t slice, int32_t bank, int64_t address) const {
    return bytes.data() + offset(slice, bank, address);
  }

private:
  size_t offset(int32_t slice, int32_t bank, int64_t address) const {
    return ((size_t(slice) * banks + bank) * depth + size_t(address)) * lanes;
  }
  int32_t lanes, banks, depth;
  std::vector<uint8_t> bytes;
};

} // namespace orrery
