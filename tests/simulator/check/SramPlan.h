// The SRAM of a program under construction: who owns each address, when it was
// written, and which values can be read.
#pragma once

#include "machine/Program.h"
#include "tests/simulator/check/Board.h"
#include "tests/simulator/check/Random.h"

#include <limits>
#include <optional>
#include <vector>

namespace orrery::test {

/// A region and its history.
struct PlannedRegion {
  SramRegion region;
  bool retired = false; ///< Temporary that nobody reads any more
  bool whole = true;    ///< every lane of it has been written
  Tick firstTick = std::numeric_limits<Tick>::max();
  Tick lastTick = -1; ///< of any access
  Tick lastWrite = -1;
};

/// Something that instructions can read: byte plane k lies in slice + k.
struct Value {
  int region;
  StreamType type;
};

class SramPlan {
public:
  explicit SramPlan(const Machine &machine);

  /// Adds a region of `width` x `length` somewhere in slices [low, high], all
  /// in one hemisphere unless `anywhere`; a Temporary may reuse what retired
  /// ones left. Nothing when no room was found.
  std::optional<int> add(Random &random, const char *name, RegionKind kind,
                         int width, int length, int low, int high,
                         bool anywhere = false);

  /// The earliest tick at which a read or write may touch this address.
  Tick readableFrom(const Touch &touch) const;
  Tick writableFrom(const Touch &touch) const;

  /// Enters an instruction with its final tick.
  void enter(const Instruction &instruction);

  void retire(int region) { regions[region].retired = true; }
  void finish(Program &program) const; ///< regions with their lifetimes

  std::vector<PlannedRegion> regions;

private:
  size_t cell(int slice, int bank, int64_t address) const {
    return (size_t(slice) * m->sram.banks + bank) * m->sram.vectorsPerBank +
           size_t(address);
  }
  bool fits(const SramRegion &region) const;
  void take(const SramRegion &region);

  const Machine *m;
  std::vector<int> owner;      ///< region index, or -1
  std::vector<Tick> written;   ///< tick of the last write, or -1
  std::vector<Tick> notBefore; ///< death of the retired owner before
};

} // namespace orrery::test
