#include "machine/Program.h"

#include "machine/InstructionText.h"
#include "machine/ProgramFile.h"
#include "machine/SummedFile.h"
#include "machine/Validate.h"
#include "machine/WholeFile.h"

namespace orrery {

namespace {

Error named(std::string_view where, const Error &error) {
  return {"program `" + std::string(where) + "`: " + error.message};
}

Status validateForItsMachine(const Program &program) {
  auto machine = parseMachine(program.machineJson, "of the program");
  return machine ? validateProgram(program, *machine) : machine.error();
}

} // namespace

std::vector<uint8_t> packProgram(const Program &program) {
  std::vector<uint8_t> bytes = programToBytes(program);
  appendChecksum(bytes);
  return bytes;
}

Expected<Program> unpackProgram(std::span<const uint8_t> file) {
  auto buffer = checkedBuffer(file, kProgramIdentifier, kMaxProgramBytes);
  return buffer ? programFromBytes(*buffer) : buffer.error();
}

Expected<std::vector<uint8_t>> serializeProgram(const Program &program) {
  if (Status valid = validateForItsMachine(program); !valid) {
    return valid.error();
  }
  std::vector<uint8_t> bytes = packProgram(program);
  if (bytes.size() > kMaxProgramBytes) {
    return tooLarge(bytes.size(), kMaxProgramBytes);
  }
  return bytes;
}

Status saveProgram(const Program &program, const std::string &path) {
  auto bytes = serializeProgram(program);
  if (!bytes) {
    return named(path, bytes.error());
  }
  Status written = replaceFile(path, *bytes);
  return written ? written : named(path, written.error());
}

Expected<Program> loadProgram(const std::string &path) {
  auto bytes = readWholeFile(path, kMaxProgramBytes);
  return bytes ? parseProgram(*bytes, path) : named(path, bytes.error());
}

Expected<Program> parseProgram(std::span<const uint8_t> file,
                               std::string_view where) {
  auto program = unpackProgram(file);
  if (!program) {
    return named(where, program.error());
  }
  Status valid = validateForItsMachine(*program);
  return valid ? std::move(program) : named(where, valid.error());
}

Bytes programBytes(const Program &program, const Machine &machine) {
  return chunkCount(queueTexts(program, machine)) * machine.fetchBytes() +
         tableBytes(program, machine);
}

uint64_t stableHash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) {
    hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  }
  return hash;
}

} // namespace orrery
