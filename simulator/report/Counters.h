// What a step cost: per unit, slice and stream, and the energy of it. All
// counts are 64 bits; names carry their units.
#pragma once

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

/// Joules by what spent them.
struct EnergyCounters {
  double sramReadJoules = 0, sramWriteJoules = 0, streamJoules = 0;
  double macJoules = 0, aluJoules = 0, hostJoules = 0, staticJoules = 0;
  double totalJoules() const {
    return sramReadJoules + sramWriteJoules + streamJoules + macJoules +
           aluJoules + hostJoules + staticJoules;
  }
};

struct Counters {
  std::vector<UnitCounters> units;
  std::vector<SliceCounters> slices;
  /// Eastward streams first, then westward.
  std::vector<StreamCounters> streams;
  /// Vectors read from SRAM times lanes = taken by consumers + dropped.
  uint64_t readBytesTaken = 0, readBytesDropped = 0;
  uint64_t int8Macs = 0, f16Macs = 0; ///< padded: rows x columns x lanes
  uint64_t aluOps = 0;
  uint64_t hostBytesIn = 0, hostBytesOut = 0;
  EnergyCounters energy;

  uint64_t bytesRead() const;
  uint64_t bytesWritten() const;
  uint64_t hopBytes() const;
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
  size_t hostIn() const { return vector() + 3; }
  size_t hostOut() const { return vector() + 4; }
  size_t count() const { return vector() + 5; }

  int32_t slices, planes;
};

/// Counters of a machine, named and all zero.
Counters makeCounters(const Machine &machine);
/// Fills idle ticks and energy for a step of `ticks`.
void finishCounters(Counters &counters, const Machine &machine, Tick ticks);
/// The counters as JSON text; equal counters give equal bytes.
std::string formatCounters(const Counters &counters);

} // namespace orrery::sim
