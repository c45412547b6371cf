// The SRAM map of a program, by slice and bank.
#pragma once

#include "machine/Program.h"

#include <vector>

namespace orrery::check {

/// The regions of one bank of one slice, as indices into Program::regions.
/// `fixed` holds all kinds but Temporary, by base.
struct BankRegions {
  std::vector<uint32_t> fixed, temporary;
};

class RegionMap {
public:
  RegionMap(const Program &program, const Machine &machine);

  const BankRegions &of(int slice, int bank) const {
    return banks[size_t(slice) * bankCount + bank];
  }
  /// The region that is not Temporary and holds `address`, or -1.
  int64_t fixedAt(int slice, int bank, int64_t address) const;
  const SramRegion &operator[](size_t index) const {
    return program.regions[index];
  }

private:
  const Program &program;
  int bankCount;
  std::vector<BankRegions> banks;
};

/// One past the last address.
inline int64_t endOf(const SramRegion &r) { return int64_t(r.base) + r.length; }
/// Whether the region lies on the chip.
bool onChip(const SramRegion &r, const Machine &m);

} // namespace orrery::check
