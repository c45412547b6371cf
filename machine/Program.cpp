#include "machine/Program.h"

#include "machine/Encoding.h"
#include "machine/ProgramFile.h"
#include "machine/SummedFile.h"
#include "machine/Validate.h"
#include "machine/WholeFile.h"

#include <map>

namespace orrery {

namespace {

Error named(std::string_view where, const Error &error) {
  return {"program `" + std::string(where) + "`: " + error.message};
}

Bytes roundUp(Bytes bytes, Bytes unit) {
  return (bytes + unit - 1) / unit * unit;
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
  Bytes unit = machine.instructionBytes;
  Bytes total = 0;
  std::map<QueueId, Tick> previous;
  for (const Instruction &instruction : program.instructions) {
    Tick &last = previous[queueOf(instruction.operation)];
    // Each slice of a range has a copy, taken to be as long as the first's.
    Bytes queues = 1;
    if (auto *read = std::get_if<ReadOp>(&instruction.operation)) {
      queues = read->width;
    } else if (auto *write = std::get_if<WriteOp>(&instruction.operation)) {
      queues = write->width;
    }
    total += queues * encodedBytes(instruction, last, machine);
    last = instruction.tick;
  }
  for (const VectorProgram &each : program.vectorPrograms) {
    total += roundUp(Bytes(each.inputs.size()) +
                         kStepBytes * Bytes(each.steps.size()) +
                         kOutputBytes * Bytes(each.outputs.size()),
                     unit);
  }
  for (const std::vector<uint16_t> &map : program.laneMaps) {
    total += roundUp(Bytes(map.size() * sizeof(uint16_t)), unit);
  }
  return total;
}

uint64_t stableHash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) {
    hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  }
  return hash;
}

} // namespace orrery
