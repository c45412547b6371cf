#include "machine/Program.h"

#include "machine/Encoding.h"
#include "machine/ProgramFile.h"
#include "machine/Validate.h"
#include "machine/WholeFile.h"

#include <cstring>
#include <map>

namespace orrery {

namespace {

constexpr uint64_t kMaxFileBytes = uint64_t(1) << 28;
/// The FNV-1a 64 of all bytes before it, little-endian.
constexpr size_t kChecksumBytes = 8;
/// A FlatBuffer's root offset and file identifier.
constexpr size_t kHeadBytes = 8;
constexpr char kIdentifier[] = "ORRY";

uint64_t checksum(std::span<const uint8_t> bytes) {
  return stableHash(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

uint64_t storedChecksum(std::span<const uint8_t> bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    sum |= uint64_t(bytes[i]) << (8 * i);
  }
  return sum;
}

Error tooLarge(size_t bytes) {
  return {"expected at most " + std::to_string(kMaxFileBytes) +
          " bytes, found " + std::to_string(bytes)};
}

/// The FlatBuffer of a file whose identifier and checksum are right.
Expected<std::span<const uint8_t>> checkedBody(std::span<const uint8_t> bytes) {
  if (bytes.size() > kMaxFileBytes) {
    return tooLarge(bytes.size());
  }
  if (bytes.size() < kHeadBytes + kChecksumBytes ||
      std::memcmp(bytes.data() + 4, kIdentifier, 4) != 0) {
    return Error{"expected a program file (\"ORRY\" at byte 4), found another "
                 "kind"};
  }
  auto body = bytes.first(bytes.size() - kChecksumBytes);
  if (storedChecksum(bytes.last(kChecksumBytes)) != checksum(body)) {
    return Error{"expected the checksum of its bytes, found another: the file "
                 "is damaged or cut short"};
  }
  return body;
}

Expected<Program> parseChecked(std::span<const uint8_t> bytes) {
  auto body = checkedBody(bytes);
  if (!body) {
    return body.error();
  }
  // FlatBuffers reads in place and needs aligned bytes.
  std::vector<uint8_t> aligned(body->begin(), body->end());
  auto program = programFromBytes(aligned);
  if (!program) {
    return program.error();
  }
  auto machine = parseMachine(program->machineJson, "of the program");
  if (!machine) {
    return machine.error();
  }
  if (Status valid = validateProgram(*program, *machine); !valid) {
    return valid.error();
  }
  return program;
}

Error named(std::string_view where, const Error &error) {
  return {"program `" + std::string(where) + "`: " + error.message};
}

Bytes roundUp(Bytes bytes, Bytes unit) {
  return (bytes + unit - 1) / unit * unit;
}

} // namespace

Expected<std::vector<uint8_t>> serializeProgram(const Program &program) {
  auto machine = parseMachine(program.machineJson, "of the program");
  if (!machine) {
    return machine.error();
  }
  if (Status valid = validateProgram(program, *machine); !valid) {
    return valid.error();
  }
  std::vector<uint8_t> bytes = programToBytes(program);
  uint64_t sum = checksum(bytes);
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    bytes.push_back(uint8_t(sum >> (8 * i)));
  }
  if (bytes.size() > kMaxFileBytes) {
    return tooLarge(bytes.size());
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
  auto bytes = readWholeFile(path, kMaxFileBytes);
  return bytes ? parseProgram(*bytes, path) : named(path, bytes.error());
}

Expected<Program> parseProgram(std::span<const uint8_t> bytes,
                               std::string_view where) {
  auto program = parseChecked(bytes);
  return program ? std::move(program) : named(where, program.error());
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
