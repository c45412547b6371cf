// Chips that do the same at the same ticks of their own: a timing-only run
// needs one of them.
#pragma once

#include "simulator/timing/Wiring.h"

#include <vector>

namespace orrery::sim {

/// Classes of a system's chips, in the order of their first chips.
struct ChipClasses {
  /// By class: the chip that stands for all, by its index in
  /// SystemProgram::chips. No other of the class starts earlier.
  std::vector<uint32_t> representatives;
  std::vector<uint32_t> sizes;
  std::vector<uint32_t> classOf; ///< by chip
};

/// Each of `chips` chips by itself.
ChipClasses eachChip(size_t chips);

/// Chips of one part whose links look the same from where they stand: link k
/// comes from a chip of the same part, that sends on the same number and starts
/// as much earlier or later; likewise where it leads to.
///
/// Why they do the same: a chip's sends leave at the ticks its program says,
/// whatever it receives. So what comes in on a link, and when, is settled by
/// the sender's part, the number it sends on, and the difference of the two
/// starts; and whether there is room, by that and the receiver's program. All
/// other rules look at one chip's program alone, from its own tick 0.
ChipClasses chipsAlike(const SystemProgram &program, const Wiring &wiring);

} // namespace orrery::sim
