// What takes the SRAM of a chip, item by item: by tensor, by bank, and
// temporaries by the op whose result they are.
#pragma once

#include "runtime/SramUse.h"

#include <span>
#include <string>
#include <vector>

namespace orrery::runtime {

struct SramItem {
  std::string name; ///< "blk.0.ffn_up.weight", "kv.0.k", "program text"
  RegionKind kind;
  Bytes bytes;
};

/// One bank of the slices for weights, or of those for data (ChipLayout.h): a
/// KV cache goes to data slices, and to no others.
struct BankUse {
  bool data;
  int32_t bank;
  int32_t slices;
  std::array<Bytes, 5> bytes = {}; ///< by RegionKind, addresses in use
  Bytes free = 0;
  Bytes capacity() const;
};

/// What ops of one name leave, together, at one tick.
struct LiveItem {
  std::string op; ///< "layer 0 ffn_up"
  Bytes bytes;
};

struct SramItems {
  std::vector<SramItem> lasting; ///< and text; the largest first
  std::vector<BankUse> banks;    ///< weight slices, then data slices
  /// Temporaries: addresses that any takes; most bytes that hold a value at
  /// once, in which program, from which tick on; whose they are then, the
  /// largest first.
  Bytes temporaryBytes = 0, liveBytes = 0;
  size_t liveProgram = 0;
  Tick liveTick = 0;
  std::vector<LiveItem> live;

  Bytes free(bool data) const;
  Bytes used(bool data, RegionKind kind) const;
};

/// Of a chip under programs that take turns on it: what lasts is the same in
/// each and counts once.
SramItems sramItems(const Machine &machine,
                    std::span<const Program *const> programs);

/// How many KV caches like those of `part` there is room for, its own among
/// them, by bytes: what is free in its data slices, over what one takes. No
/// layout may reach it. A part without KV: as many as you like, -1.
int64_t cachesByBytes(const SramItems &part);

} // namespace orrery::runtime
