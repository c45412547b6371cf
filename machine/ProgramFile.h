// The bytes of program files, without a look at what the program says. Users
// call Program.h.
#pragma once

#include "machine/Program.h"
#include "machine/SummedFile.h"

namespace orrery {

inline constexpr FileIdentifier kProgramIdentifier = "ORRY";
inline constexpr uint64_t kMaxProgramBytes = uint64_t(1) << 28;

/// The whole file, with its checksum. The program is valid on its machine.
std::vector<uint8_t> packProgram(const Program &program);
/// The program of such a file: whole, but not yet found valid.
Expected<Program> unpackProgram(std::span<const uint8_t> file);

/// A FlatBuffer of Program.fbs. The program is valid on its machine.
std::vector<uint8_t> programToBytes(const Program &program);

/// The program in a buffer aligned to 8 bytes, as it stands there: enums and
/// indices are not yet checked, the machine text not yet parsed.
Expected<Program> programFromBytes(std::span<const uint8_t> bytes);

inline constexpr uint32_t kProgramFileVersion = 3;

/// SRAM bytes of one ALU step and one output of a vector program: as in the
/// file.
inline constexpr Bytes kStepBytes = 32;
inline constexpr Bytes kOutputBytes = 3;

} // namespace orrery
