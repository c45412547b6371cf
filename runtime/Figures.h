// What the steps of a run add up to. Prompt and decoding are two sums: a rate
// that mixes them says nothing.
#pragma once

#include "runtime/TimeSpent.h"

#include <string>
#include <vector>

namespace orrery::runtime {

/// Work, bytes and energy are those of all chips.
struct Figures {
  int64_t steps = 0, tokens = 0;
  int64_t chips = 0;                    ///< of a step
  Tick ticks = 0, fewest = 0, most = 0; ///< sum; of a step
  std::vector<Tick> busy;               ///< as Counters::units
  uint64_t sramBytesRead = 0, sramBytesWritten = 0;
  uint64_t hostBytesIn = 0, hostBytesOut = 0;
  uint64_t int8Macs = 0, f16Macs = 0, aluOps = 0;
  /// Between chips: directions of cables that carry something, what they carry
  /// and for how long, and most vectors that one's buffer held.
  int64_t links = 0;
  uint64_t linkBytes = 0, mostBufferedVectors = 0;
  Tick crossing = 0;
  double joules = 0, staticJoules = 0;
  TimeSpent spent = {};

  void add(const SystemProgram &program, const sim::SystemResult &result,
           int64_t newTokens);

private:
  void addChips(const sim::Counters &counters, uint32_t alike,
                int64_t &linksOfStep);
};

/// Queues of one kind together; or links, whose busy ticks are those in which
/// vectors cross.
struct UnitShare {
  std::string name;
  int64_t queues;
  Tick busy; ///< over all queues
  Tick room; ///< ticks times queues
  double share() const { return room > 0 ? double(busy) / double(room) : 0; }
};
std::vector<UnitShare> unitShares(const Machine &machine,
                                  const Figures &figures);

} // namespace orrery::runtime
