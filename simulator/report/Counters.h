// What a step cost: per unit, slice and stream, and the energy of it. All
// counts are 64 bits; names carry their units.
#pragma once

#include "machine/Instruction.h"
#include "machine/Machine.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::sim {

/// One instruction queue. busyTicks + idleTicks is the step's length.
struct UnitCounters {
  std::string name;
  uint64_t instructions = 0;
  uint64_t vectors = 0; ///< taken or issued
  uint64_t busyTicks = 0;
  uint64_t idleTicks = 0;
};

struct SliceCounters {
  uint64_t bytesRead = 0;
  uint64_t bytesWritten = 0;
};

struct StreamCounters {
  uint64_t vectors = 0;
  uint64_t hopBytes = 0;       ///< bytes times positions moved
  uint64_t droppedVectors = 0; ///< driven, but taken by nobody
};

/// One C2C link of the chip.
struct LinkCounters {
  uint64_t bytesOut = 0, bytesIn = 0;
  /// In which vectors crossed, outward.
  uint64_t crossingTicks = 0;
  /// Most vectors (of one stream) that were sent to the chip and not yet
  /// received.
  uint64_t mostBufferedVectors = 0;
  /// Ticks that vectors lay in the buffer after they had arrived, summed over
  /// vectors of one stream.
  uint64_t heldVectorTicks = 0;
  /// In which nothing was under way on the chip, up to a receive of this link.
  uint64_t waitTicks = 0;
};

/// Joules by what spent them. A link's are the sender's.
struct EnergyCounters {
  double sramReadJoules = 0, sramWriteJoules = 0, streamJoules = 0;
  double macJoules = 0, aluJoules = 0, hostJoules = 0, linkJoules = 0;
  double staticJoules = 0;
  double dynamicJoules() const {
    return sramReadJoules + sramWriteJoules + streamJoules + macJoules +
           aluJoules + hostJoules + linkJoules;
  }
  double totalJoules() const { return dynamicJoules() + staticJoules; }
};

struct Counters {
  std::vector<UnitCounters> units;
  std::vector<SliceCounters> slices;
  /// Eastward streams first, then westward.
  std::vector<StreamCounters> streams;
  std::vector<LinkCounters> links; ///< C2C link number k at k - 1
  /// Vectors read from SRAM times lanes = taken by consumers + dropped.
  /// Text that queues took by fetches is taken, too.
  uint64_t readBytesTaken = 0, readBytesDropped = 0;
  uint64_t fetchedBytes = 0;
  uint64_t int8Macs = 0, f16Macs = 0; ///< padded: rows x columns x lanes
  uint64_t aluOps = 0;
  uint64_t hostBytesIn = 0, hostBytesOut = 0;
  /// In which nothing but fetches was under way on the chip, up to a receive
  /// from the host, and up to something else. A read is under way until its
  /// vectors are on the streams, so the way to the first consumer counts.
  uint64_t hostWaitTicks = 0, otherWaitTicks = 0;
  EnergyCounters energy;

  uint64_t bytesRead() const;
  uint64_t bytesWritten() const;
  uint64_t hopBytes() const;
  uint64_t linkBytesOut() const;
};

/// Where the queues of each kind start in Counters::units.
struct UnitIndex {
  explicit UnitIndex(const Machine &machine);
  size_t read(int32_t slice) const { return size_t(slice); }
  size_t write(int32_t slice) const { return size_t(slices + slice); }
  size_t load(int32_t plane) const { return size_t(2 * slices + plane); }
  size_t install(int32_t plane) const { return load(plane + planes); }
  size_t matmul(int32_t plane) const { return load(plane + 2 * planes); }
  size_t vector() const { return load(3 * planes); }
  size_t permute(int32_t sxm) const { return vector() + 1 + size_t(sxm); }
  size_t linkIn(LinkNumber link) const { return vector() + 3 + link; }
  size_t linkOut(LinkNumber link) const { return linkIn(link) + 1 + ports; }
  size_t hostIn() const { return linkIn(kHostLink); }
  size_t hostOut() const { return linkOut(kHostLink); }
  size_t fetch() const { return vector() + 3 + 2 * (1 + ports); }
  size_t count() const { return fetch() + 1; }

  int32_t slices, planes;
  size_t ports; ///< C2C link numbers
};

/// Counters of a machine, named and all zero.
Counters makeCounters(const Machine &machine);
/// What the static power of one chip takes in `ticks`.
double staticJoules(const Machine &machine, Tick ticks);
/// Fills idle ticks and energy for a step of `ticks`.
void finishCounters(Counters &counters, const Machine &machine, Tick ticks);
/// The counters as JSON text; equal counters give equal bytes.
std::string formatCounters(const Counters &counters);

} // namespace orrery::sim
