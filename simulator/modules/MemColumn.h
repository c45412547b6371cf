// Stands for all MEM slices of the chip, each with its read and its write
// queue (SlicePorts keeps them apart). Leaves out bank timing below a cycle
// and error correction. Wakes at the first cycle of each read and write, and
// at the last one where a value or a rule must wait for it.
#pragma once

#include "simulator/modules/InstructionQueue.h"
#include "simulator/modules/Step.h"

namespace orrery::sim {

class MemColumn : public sc_core::sc_module {
public:
  MemColumn(sc_core::sc_module_name name, ChipClock &clock, Step &step);

  void addRead(uint32_t number);
  void addWrite(uint32_t number);

private:
  /// First cycle in which a slice of the range acts.
  Tick firstTick(Tick tick, uint32_t slice, uint32_t width,
                 Direction direction) const;
  void issue(uint32_t number, Tick now);
  void issueRead(const ReadOp &op, uint32_t number, Tick now);
  void issueWrite(const WriteOp &op, uint32_t number, Tick now);
  void count(const MemAccess &access, uint32_t number);
  void burstEnd(uint32_t tag, Tick now);

  /// A burst that is looked at again when it is over.
  struct Open {
    MemAccess access;
    uint32_t region;
  };
  Step &step;
  std::vector<Open> open;
  std::vector<uint32_t> freeTags;
  uint32_t keep(const MemAccess &access, uint32_t region);
  InstructionQueue queue;
};

} // namespace orrery::sim
