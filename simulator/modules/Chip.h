// One chip: its units, and each instruction in its unit's queue.
#pragma once

#include "simulator/modules/HostPort.h"
#include "simulator/modules/MatrixPlane.h"
#include "simulator/modules/MemColumn.h"
#include "simulator/modules/SwitchUnit.h"
#include "simulator/modules/VectorUnit.h"

namespace orrery::sim {

class Chip : public sc_core::sc_module {
public:
  Chip(sc_core::sc_module_name name, Simulation &simulation, Step &step);

  /// After the last cycle: what a step may not leave behind.
  void checkEnd() const;

private:
  void distribute(uint32_t number);
  MatrixPlane &planeOf(uint32_t number, uint32_t plane);
  void checkShape(uint32_t number) const;

  Step &step;
  MemColumn memory;
  VectorUnit vxm;
  SwitchUnit sxmWest, sxmEast;
  HostPort host;
  std::vector<std::unique_ptr<MatrixPlane>> planes;
};

} // namespace orrery::sim
