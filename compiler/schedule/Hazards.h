// What a gang must wait for: values in SRAM, weights' buffers and activation
// entries of the planes. Keeps the ticks of all accesses so far.
#pragma once

#include "compiler/schedule/LinkHazards.h"

namespace orrery::schedule {

class Hazards {
public:
  /// With `operandsOnly`, a gang waits for its operands and for nothing else:
  /// not for memory, buffers or units that others still use.
  explicit Hazards(const Problem &problem, bool operandsOnly = false);

  /// The first start at which every operand of the gang is there and nothing
  /// it overwrites is still to be read. `entryBase` is that of its load.
  Tick earliest(const Gang &gang, uint32_t entryBase) const;
  /// The gang starts at `start`.
  void commit(const Gang &gang, uint32_t entryBase, Tick start);

private:
  struct Cell {
    Tick written = -1; ///< tick of the last write
  };
  struct Entry {
    Tick ready = -1, used = -1;
  };
  struct Plane {
    std::vector<Entry> entries;
    Tick installed = 0;     ///< end of the last install
    Tick multiplied = 0;    ///< end of the last matmul
    Tick freed[2] = {0, 0}; ///< the last two tiles, older first
  };
  struct Cache {
    Tick written = -1, read = -1;
  };

  template <class Visit>
  void forEachVector(const Member &member, Visit visit) const;
  Tick earliestMemory(const Member &member) const;
  Tick earliestPlane(const Member &member, const Gang &gang,
                     uint32_t base) const;
  void commitMemory(const Member &member, Tick start);
  void commitPlane(const Member &member, uint32_t base, Tick start);
  std::pair<uint32_t, uint32_t> planesOf(uint32_t plane,
                                         WeightFormat format) const;

  const Problem &problem;
  bool operandsOnly;
  const Machine &m;
  Geometry g;
  mutable std::vector<std::vector<Cell>> cells; ///< [slice * banks + bank]
  std::vector<Cache> caches;
  std::vector<Tick> dies; ///< per region: past its last access so far
  std::vector<Plane> planes;
  LinkHazards links;
};

} // namespace orrery::schedule
