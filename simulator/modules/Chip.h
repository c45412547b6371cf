// One chip: its units, and each instruction in its unit's queue.
#pragma once

#include "simulator/modules/ChipLink.h"
#include "simulator/modules/HostPort.h"
#include "simulator/modules/InstructionUnit.h"
#include "simulator/modules/MatrixPlane.h"
#include "simulator/modules/MemColumn.h"
#include "simulator/modules/SwitchUnit.h"
#include "simulator/modules/VectorUnit.h"

namespace orrery::sim {

class Chip : public sc_core::sc_module {
public:
  /// `links` C2C links, numbered from 1.
  Chip(sc_core::sc_module_name name, Simulation &simulation, Step &step,
       size_t links);

  ChipLink &link(size_t number) { return *links[number - 1]; }
  /// After the last cycle: what a step may not leave behind; the books.
  void finish();

private:
  void distribute(uint32_t number);
  MatrixPlane &planeOf(uint32_t number, uint32_t plane);
  ChipLink &linkOf(uint32_t number, LinkNumber link);
  void checkShape(uint32_t number) const;
  void checkFetch(uint32_t number, const FetchOp &op) const;

  Step &step;
  ChipClock clock;
  MemColumn memory;
  VectorUnit vxm;
  SwitchUnit sxmWest, sxmEast;
  HostPort host;
  InstructionUnit icu;
  std::vector<std::unique_ptr<MatrixPlane>> planes;
  std::vector<std::unique_ptr<ChipLink>> links;
};

} // namespace orrery::sim
