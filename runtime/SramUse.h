// The SRAM of a chip under all programs of a set, each address counted once.
//
// Weights, tables and KV are the same regions in every program; each program's
// instructions are its own; temporaries of different programs may share room,
// since one step runs at a time.
#pragma once

#include "machine/Machine.h"
#include "machine/Program.h"

#include <array>
#include <span>
#include <string>

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

/// "weights", "tables", "KV cache", "temporaries", "program".
const char *sramKindName(RegionKind kind);

} // namespace orrery::runtime
