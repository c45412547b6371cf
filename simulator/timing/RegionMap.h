// Which declared region of SRAM an access falls into: inside one, in a kind
// that allows it, and, for a temporary, within its lifetime.
#pragma once

#include "machine/Program.h"
#include "simulator/timing/MemAccess.h"

#include <utility>
#include <vector>

namespace orrery::sim {

class RegionMap {
public:
  /// Regions that overlap and may not: Illegal (at cycle 0, or when the later
  /// of two temporaries is born).
  RegionMap(const Program &program, const Machine &machine);

  /// The region of `access`; Illegal if there is none that allows it.
  uint32_t find(const MemAccess &access, Tick now);
  const SramRegion &operator[](uint32_t region) const {
    return regions[region];
  }

private:
  using List = std::vector<uint32_t>;
  size_t index(int32_t slice, int32_t bank) const {
    return size_t(slice) * size_t(banks) + size_t(bank);
  }
  void addPermanent(uint32_t region);
  void activateTemporaries(Tick upTo, Tick now);
  bool holds(const SramRegion &region, const MemAccess &access) const;
  bool isCovered(const MemAccess &access, RegionKind kind) const;
  uint32_t permanentAt(int32_t slice, int32_t bank, int64_t address) const;
  [[noreturn]] void notFound(const MemAccess &access) const;

  const std::vector<SramRegion> &regions;
  int32_t banks;
  Tick rowLength;              ///< bound on the skew of a wide access
  std::vector<List> permanent; ///< by index(), sorted by base
  std::vector<List> active;    ///< temporaries alive about now, by index()
  /// Temporaries in the order of their birth.
  std::vector<std::pair<Tick, uint32_t>> byBirth;
  size_t born = 0; ///< how many of byBirth are active or over
};

} // namespace orrery::sim
