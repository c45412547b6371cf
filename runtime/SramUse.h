// The SRAM of a chip under all programs of a set, each address counted once.
//
// Weights, tables and KV are the same regions in every program; each program's
// instructions are its own; temporaries of different programs may share room,
// since one step runs at a time.
#pragma once

#include "machine/SystemProgram.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace orrery::runtime {

struct SramUse {
  std::array<Bytes, 5> bytes = {}; ///< by RegionKind, addresses in use
  /// The same but for Temporary from the lengths of the regions: differs when
  /// regions that last share an address.
  std::array<Bytes, 5> regionBytes = {};
  Bytes free = 0, capacity = 0;
  /// Without any padding; 0: not known. See NominalBytes.h.
  std::array<Bytes, 5> nominal = {};
  /// The first two regions that may not share an address and do; or empty.
  std::string conflict;

  bool addsUp() const;
};

SramUse sramUse(const Machine &machine,
                std::span<const Program *const> programs);

/// The SRAM of all chips under all programs of a set.
struct SystemSram {
  std::vector<SramUse> parts; ///< of one chip, by the part it runs
  size_t fullest = 0;         ///< the part whose chips have least free
  SramUse total;              ///< of all chips that have a program
  int64_t chips = 0;

  /// Of one of the fullest chips.
  const SramUse &chip() const { return parts[fullest]; }
  bool addsUp() const;
};

/// `programs` all have the same chips, and parts for them.
SystemSram systemSram(const Machine &machine,
                      std::span<const SystemProgram *const> programs);

/// "weights", "tables", "KV cache", "temporaries", "program".
const char *sramKindName(RegionKind kind);

} // namespace orrery::runtime
