// The static checker: proves before tick 0 that a program obeys the rules of
// machine/README.md. It reads the program and the machine, and shares no code
// with the scheduler that made the program or the simulator that runs it.
#pragma once

#include "machine/Machine.h"
#include "machine/Program.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace orrery::check {

/// The `instruction` of a violation that belongs to no instruction.
inline constexpr uint32_t kNoInstruction = std::numeric_limits<uint32_t>::max();

/// One broken rule. `message` is one line that starts with the rule's name.
struct Violation {
  std::string rule;
  std::string message;
  uint32_t instruction;
  Tick tick;
};

/// SRAM of the whole chip; used + free = capacity. An address that several
/// Temporary regions share counts once.
struct CapacityFigures {
  std::array<Bytes, 5> bytesOfKind; ///< indexed by RegionKind
  Bytes used;
  Bytes free;
  Bytes capacity;
  Bytes programBytes; ///< what the Instructions regions must hold
};

/// What was found and how much was proven.
struct Report {
  /// The first kMaxViolations in the order of discovery.
  std::vector<Violation> violations;
  uint64_t violationsNotKept = 0;
  uint64_t instructions = 0;
  /// (vector, stream) pairs that producers drive, and that consumers take.
  uint64_t vectorsDriven = 0, operandsProven = 0;
  uint64_t tilesProven = 0;
  /// (read, address) stretches shown to be written before they are read.
  uint64_t readsProven = 0;
  Tick endTick = 0; ///< by rule 7 of machine/README.md
  CapacityFigures sram = {};

  bool ok() const { return violations.empty(); }
};
inline constexpr size_t kMaxViolations = 256;

/// Checks every rule. A program whose fields are malformed (rule `form`) is
/// not looked at further: the other rules have no meaning there.
Report checkProgram(const Program &program, const Machine &machine);

} // namespace orrery::check
