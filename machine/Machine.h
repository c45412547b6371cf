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
  /// Last vector of a fetch read to its bytes in the queue's buffer.
  Tick fetch;
  bool operator==(const TimingParameters &) const = default;
};

/// Chip-to-chip (C2C) links. A port takes vectors from the streams at any rate
/// into its buffer; they cross the link one after another, `vectorTicks` each,
/// and can be received `latency` ticks after they have crossed.
struct LinkParameters {
  int32_t ports; ///< of a chip; 0: the chip has no links
  Tick latency;
  Tick vectorTicks; ///< for one vector of `lanes` bytes
  /// Vectors that may be between the sender's streams and the receiver's:
  /// sent and not yet received. Assumed.
  int32_t bufferVectors;
  bool operator==(const LinkParameters &) const = default;
};

/// One cable: both directions between two ports.
struct Link {
  int32_t chip, port, otherChip, otherPort;
  bool operator==(const Link &) const = default;
};

/// The chips of a system and how they are linked, all on one clock.
struct System {
  int32_t chips = 1;
  int32_t nodeChips = 1; ///< chips of one node: chips [k * n, k * n + n)
  /// The description's own words, for formatMachine: topology, parameters,
  /// sources. Empty: one chip.
  std::string json;
  std::vector<Link> links; ///< each once, chip < otherChip, sorted
  bool operator==(const System &) const = default;
};

/// Energy in picojoules per event, power in watts.
struct EnergyParameters {
  double sramReadPjPerByte, sramWritePjPerByte;
  double streamHopPjPerByte;
  double int8MacPj, f16MacPj, aluPj;
  double hostPjPerByte, linkPjPerByte;
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

/// A chip, its links, and the system of such chips.
struct Machine {
  std::string name;
  double clockMhz;
  int32_t lanes; ///< bytes in a vector; a multiple of 32
  int32_t streamsPerDirection;
  int32_t alusPerLane;
  int32_t instructionBytes; ///< SRAM charged for one encoded instruction
  int32_t queueBytes;       ///< instruction buffer of one queue. Assumed
  int32_t fetchVectors;     ///< that one fetch brings
  SramParameters sram;
  MatrixParameters matrix;
  TimingParameters timing;
  LinkParameters link;
  EnergyParameters energy;
  System system;
  std::vector<SourcedNumber> numbers; ///< all, in formatMachine's order

  Geometry geometry() const {
    return {sram.slicesPerHemisphere, matrix.planesPerHemisphere};
  }
  Bytes bankBytes() const { return Bytes(sram.vectorsPerBank) * lanes; }
  Bytes fetchBytes() const { return Bytes(fetchVectors) * lanes; }
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
