// A compiled token step: all that compiler, simulator and checker share.
//
// One program serves (T new tokens, one sequence, a context bucket) on one
// chip. Weights and KV stay where they are between the steps of different
// programs; the SRAM map is therefore the same in all programs of a set.
#pragma once

#include "machine/Instruction.h"
#include "machine/Machine.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// What a region of SRAM holds. Weight, Table and Instructions are filled
/// before the first step and never written; Kv starts as zeros and lives
/// across steps; Temporary is undefined when a step begins.
enum class RegionKind : uint8_t { Weight, Table, Kv, Temporary, Instructions };

/// Addresses [base, base + length) of bank `bank` in slices
/// [slice, slice + width). Regions of one program may overlap only if both are
/// Temporary and their lifetimes do not.
struct SramRegion {
  std::string name;
  RegionKind kind;
  uint16_t slice;
  uint16_t width;
  uint8_t bank;
  uint32_t base;
  uint32_t length;
  /// Ticks [born, dies) in which a Temporary holds a value: from its first
  /// write's tick to past its last read's. Zero for the other kinds.
  Tick born = 0, dies = 0;

  Bytes bytes(int32_t lanes) const { return Bytes(width) * length * lanes; }
  bool operator==(const SramRegion &) const = default;
};

/// Where the step leaves its logits: f32, byte plane k in slice `slice + k`;
/// vector (token t, j) at address base + t * vectors + j; element
/// j * lanes + lane; lanes past `vocab` are padding.
struct LogitsPlace {
  uint16_t slice;
  uint8_t bank;
  uint32_t base;
  uint32_t vectors;
  uint32_t vocab;
  bool operator==(const LogitsPlace &) const = default;
};

/// The machine a program was made for is carried whole, as JSON text.
struct Program {
  std::string machineJson;
  std::string modelName;
  uint64_t modelHash;    ///< of config and weight formats
  uint32_t tokens;       ///< T
  uint32_t bucket;       ///< KV positions this program attends to
  uint32_t context;      ///< KV positions that have room in SRAM
  uint32_t inputVectors; ///< f32 vectors the host sends per token
  Tick predictedTicks;   ///< end of the step: see endTick in README
  LogitsPlace logits;
  std::vector<SramRegion> regions;
  std::vector<VectorProgram> vectorPrograms;
  std::vector<std::vector<uint16_t>> laneMaps; ///< each `lanes` entries
  std::vector<std::string> locations;          ///< op paths, "layer 3 attn_q"
  std::vector<Instruction> instructions;       ///< sorted by tick
  bool operator==(const Program &) const = default;
};

/// SRAM bytes the program's text takes on `machine`, the one it was made for:
/// the chunks of all queues (InstructionText.h), vector programs, lane maps.
Bytes programBytes(const Program &program, const Machine &machine);

/// Writes `program` as a file (Program.fbs); whole or not at all. A program
/// that would not load is an error.
Status saveProgram(const Program &program, const std::string &path);
/// The bytes of such a file.
Expected<std::vector<uint8_t>> serializeProgram(const Program &program);
/// Reads and verifies one: checksum, magic, version, FlatBuffers verifier, then
/// validateProgram (Validate.h): every enum, index and extent, so that users of
/// a loaded program need not check.
Expected<Program> loadProgram(const std::string &path);
/// The same for the bytes of a file; `where` names them in errors.
Expected<Program> parseProgram(std::span<const uint8_t> file,
                               std::string_view where);

/// FNV-1a 64 of text; stable across machines.
uint64_t stableHash(std::string_view text);

} // namespace orrery
