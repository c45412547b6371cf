// The machine description: one chip of kind `lpu` as data. Compiler,
// simulator and checker read every number from here and from nowhere else.
//
// Each JSON key carries its unit; each number has a sibling `"source"` entry
// saying where it comes from. What the makers do not publish says `assumed`.
#pragma once

#include "machine/Geometry.h"
#include "machine/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// On-chip SRAM: `2 * slicesPerHemisphere` slices of `banks` banks of
/// `vectorsPerBank` vectors of `lanes` bytes. A cycle allows one read and one
/// write a slice, in different banks.
struct SramParameters {
  int32_t slicesPerHemisphere;
  int32_t banks;
  int32_t vectorsPerBank;
  bool operator==(const SramParameters &) const = default;
};

/// The matrix unit: planes of lanes x lanes weights.
struct MatrixParameters {
  int32_t planesPerHemisphere;
  /// Streams that one plane can take weights from in a cycle.
  int32_t installStreams;
  /// Activation vectors that one plane can hold between passes. Assumed.
  int32_t activationVectors;
  /// Cycles one f16 activation row takes (1 for the integer formats).
  int32_t f16TicksPerRow;
  bool operator==(const MatrixParameters &) const = default;
};

/// Latencies in ticks. `read`: issue to the stream register of the slice.
/// `write`: vector taken to the first cycle a read may issue. `matmul`:
/// activation row in to result row out. `alu`, `special` (exp, div, sqrt),
/// `cross` (within-group lane work: quantize, splat) per chained step;
/// `reduce`: the lane tree, added once. All assumed; the reports show how much
/// an answer depends on them.
struct TimingParameters {
  Tick read, write;
  Tick load, install, matmul;
  Tick alu, special, cross, reduce;
  Tick permute, transpose;
  /// Host to chip edge and back, and ticks between vectors on the host link.
  Tick host, hostVector;
  bool operator==(const TimingParameters &) const = default;
};

/// Energy in picojoules per event, power in watts.
struct EnergyParameters {
  double sramReadPjPerByte, sramWritePjPerByte;
  double streamHopPjPerByte;
  double int8MacPj, f16MacPj, aluPj;
  double hostPjPerByte;
  double staticWatts;
  bool operator==(const EnergyParameters &) const = default;
};

/// A number of the description and where it comes from.
struct SourcedNumber {
  std::string path; ///< JSON path, for example "timing.read_ticks"
  double value;
  std::string source; ///< "assumed", or paper and section
  bool operator==(const SourcedNumber &) const = default;
};

/// One chip and its host link.
struct Machine {
  std::string name;
  double clockMhz;
  int32_t lanes; ///< bytes in a vector; a multiple of 32
  int32_t streamsPerDirection;
  int32_t alusPerLane;
  int32_t instructionBytes; ///< SRAM charged for one encoded instruction
  SramParameters sram;
  MatrixParameters matrix;
  TimingParameters timing;
  EnergyParameters energy;
  std::vector<SourcedNumber> numbers; ///< all, in formatMachine's order

  Geometry geometry() const {
    return {sram.slicesPerHemisphere, matrix.planesPerHemisphere};
  }
  Bytes bankBytes() const { return Bytes(sram.vectorsPerBank) * lanes; }
  Bytes sramBytes() const {
    return bankBytes() * sram.banks * 2 * sram.slicesPerHemisphere;
  }
  double microseconds(Tick ticks) const { return double(ticks) / clockMhz; }
  bool operator==(const Machine &) const = default;
};

/// Reads and validates a description; `where` names it in errors. Unknown or
/// missing keys, wrong types, impossible values: an error with the JSON path,
/// what was expected and what was found.
Expected<Machine> parseMachine(std::string_view json, std::string_view where);
/// A preset's name or a path to a JSON file.
Expected<Machine> loadMachine(const std::string &nameOrPath);
/// The names of the built-in presets, sorted.
std::vector<std::string> presetNames();
/// The JSON text of a machine: parseMachine(formatMachine(m)) is m, but for
/// `numbers` whose value the caller changed in the fields: they follow these.
std::string formatMachine(const Machine &machine);

} // namespace orrery
