// A token step on a system of chips: which chip runs which program, when it
// starts, and where its links lead.
//
// Chips that do the same work share a *part*: the ranks of a tensor-parallel
// group, and stages of equal layers. What differs between them is data (the
// shard of a weight in SRAM), the start, and the ports behind link numbers.
#pragma once

#include "machine/Program.h"

namespace orrery {

/// The chip's physical ports behind one link number of its part; -1: the part
/// does not use that direction. The two may be different ports: a rank sends to
/// the rank after it and receives from the one before.
struct LinkPorts {
  int32_t out = -1, in = -1;
  bool operator==(const LinkPorts &) const = default;
};

struct ChipProgram {
  int32_t chip = 0;   ///< of the system
  uint32_t part = 0;  ///< index into SystemProgram::parts
  uint32_t stage = 0; ///< of the pipeline
  uint32_t rank = 0;  ///< in the stage's tensor-parallel group
  /// Tick of the step at which the chip's tick 0 is.
  Tick start = 0;
  std::vector<LinkPorts> links; ///< link number k at k - 1
  bool operator==(const ChipProgram &) const = default;
};

/// All parts were made for one machine, the system's, and agree in model,
/// tokens, bucket and context. The ranks of a stage run the same part from the
/// same start. A chip that is not named is idle.
struct SystemProgram {
  std::vector<Program> parts;
  std::vector<ChipProgram> chips; ///< by chip, ascending
  Tick predictedTicks = 0;        ///< the last chip's end: start + its part's
  bool operator==(const SystemProgram &) const = default;
};

/// What is at the other end of a chip's ports.
class PortMap {
public:
  explicit PortMap(const Machine &machine);
  /// {chip, port}, or {-1, -1} where no cable is. Both arguments are within
  /// the machine.
  std::pair<int32_t, int32_t> otherEnd(int32_t chip, int32_t port) const;

private:
  int32_t ports;
  std::vector<std::pair<int32_t, int32_t>> ends;
};

/// One program on the machine's chip 0.
SystemProgram onOneChip(Program program);

/// Every part valid on its own (Validate.h), and every index, port, stage and
/// start of `chips`; stages, and the ranks of a stage, are 0, 1, … without
/// gaps; every part runs. Each link number that a part uses has a port, a port
/// is behind at most one link number a direction, and a cable is behind it. Not
/// here: whether the other end receives what is sent, and in time
/// (simulator/check).
Status validateSystemProgram(const SystemProgram &program,
                             const Machine &machine);

/// As saveProgram and loadProgram. A file of one program on one chip has the
/// form of Program.fbs, and loads here too; of more, the form of
/// SystemProgram.fbs, whose parts are whole such files.
Status saveSystemProgram(const SystemProgram &program, const std::string &path);
Expected<SystemProgram> loadSystemProgram(const std::string &path);
Expected<SystemProgram> parseSystemProgram(std::span<const uint8_t> file,
                                           std::string_view where);

} // namespace orrery
