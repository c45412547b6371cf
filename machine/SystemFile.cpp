// The file of a program on several chips: its bytes, and what reads them.
#include "machine/ProgramFile.h"
#include "machine/SystemProgram.h"
#include "machine/WholeFile.h"

#include "SystemProgram_generated.h"

#include <limits>

namespace orrery {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using FileBytes = std::vector<uint8_t>;

constexpr FileIdentifier kSystemIdentifier = "ORRS";
/// Offsets in a FlatBuffer have 31 bits.
constexpr uint64_t kMaxSystemBytes = uint64_t(1) << 30;
constexpr uint32_t kSystemFileVersion = 1;
/// What a file may make a reader ask memory for; the machine, which stands in
/// the parts, sets the real bounds.
constexpr uint32_t kMaxChips = 1 << 16;
constexpr uint32_t kMaxLinks = std::numeric_limits<LinkNumber>::max();

Error named(std::string_view where, const Error &error) {
  return {"program `" + std::string(where) + "`: " + error.message};
}

Status validateForItsMachine(const SystemProgram &program) {
  if (program.parts.empty()) {
    return Error{"parts: expected at least 1, found 0"};
  }
  auto machine =
      parseMachine(program.parts.front().machineJson, "of the program");
  return machine ? validateSystemProgram(program, *machine) : machine.error();
}

bool isOnOneChip(const SystemProgram &program) {
  return program.parts.size() == 1 && program.chips.size() == 1 &&
         program.chips.front() == ChipProgram() &&
         program.predictedTicks == program.parts.front().predictedTicks;
}

//===-- To bytes ----------------------------------------------------------===//

auto partsToFile(const std::vector<FileBytes> &files,
                 FlatBufferBuilder &builder) {
  std::vector<Offset<file::Part>> parts;
  for (const FileBytes &each : files) {
    auto bytes = builder.CreateVector(each);
    parts.push_back(file::CreatePart(builder, bytes));
  }
  return builder.CreateVector(parts);
}

auto chipsToFile(const SystemProgram &program, FlatBufferBuilder &builder) {
  std::vector<Offset<file::ChipProgram>> chips;
  for (const ChipProgram &chip : program.chips) {
    std::vector<file::LinkPorts> links;
    for (const LinkPorts &ports : chip.links) {
      links.emplace_back(ports.out, ports.in);
    }
    auto linkVector = builder.CreateVectorOfStructs(links);
    chips.push_back(file::CreateChipProgram(builder, chip.chip, chip.part,
                                            chip.stage, chip.rank, chip.start,
                                            linkVector));
  }
  return builder.CreateVector(chips);
}

FileBytes packSystem(const SystemProgram &program,
                     const std::vector<FileBytes> &files) {
  FlatBufferBuilder builder;
  auto parts = partsToFile(files, builder);
  auto chips = chipsToFile(program, builder);
  file::FinishSystemProgramBuffer(
      builder, file::CreateSystemProgram(builder, kSystemFileVersion, parts,
                                         chips, program.predictedTicks));
  const uint8_t *bytes = builder.GetBufferPointer();
  FileBytes packed(bytes, bytes + builder.GetSize());
  appendChecksum(packed);
  return packed;
}

Expected<FileBytes> serialize(const SystemProgram &program) {
  if (Status valid = validateForItsMachine(program); !valid) {
    return valid.error();
  }
  std::vector<FileBytes> files;
  uint64_t sum = 0;
  for (const Program &part : program.parts) {
    files.push_back(packProgram(part));
    sum += files.back().size();
    if (files.back().size() > kMaxProgramBytes) {
      return Error{"part " + std::to_string(files.size() - 1) + ": " +
                   tooLarge(files.back().size(), kMaxProgramBytes).message};
    }
  }
  if (isOnOneChip(program)) {
    return std::move(files.front());
  }
  // With room for the chips, before the builder runs out of offsets.
  constexpr uint64_t kMaxParts = kMaxSystemBytes / 2;
  return sum <= kMaxParts ? packSystem(program, files)
                          : Expected<FileBytes>(tooLarge(sum, kMaxParts));
}

//===-- From bytes --------------------------------------------------------===//

Status readParts(const file::SystemProgram &from, size_t fileBytes,
                 SystemProgram &program) {
  // Parts of a file made to harm may be the same bytes many times.
  uint64_t sum = 0;
  for (const file::Part *part : *from.parts()) {
    sum += part->file()->size();
  }
  if (sum > fileBytes) {
    return Error{"parts: " + tooLarge(sum, fileBytes).message};
  }
  for (const file::Part *part : *from.parts()) {
    auto read = unpackProgram({part->file()->data(), part->file()->size()});
    if (!read) {
      return Error{"part " + std::to_string(program.parts.size()) + ": " +
                   read.error().message};
    }
    program.parts.push_back(std::move(*read));
  }
  return Success{};
}

Status readChips(const file::SystemProgram &from, SystemProgram &program) {
  if (from.chips()->size() > kMaxChips) {
    return Error{"chips: expected at most " + std::to_string(kMaxChips) +
                 ", found " + std::to_string(from.chips()->size())};
  }
  for (const file::ChipProgram *each : *from.chips()) {
    if (each->links()->size() > kMaxLinks) {
      return Error{"links of chip " + std::to_string(each->chip()) +
                   ": expected at most " + std::to_string(kMaxLinks) +
                   ", found " + std::to_string(each->links()->size())};
    }
    ChipProgram chip{each->chip(), each->part(),  each->stage(),
                     each->rank(), each->start(), {}};
    for (const file::LinkPorts *ports : *each->links()) {
      chip.links.push_back({ports->out(), ports->in()});
    }
    program.chips.push_back(std::move(chip));
  }
  return Success{};
}

Expected<SystemProgram> unpackSystem(std::span<const uint8_t> file) {
  auto buffer = checkedBuffer(file, kSystemIdentifier, kMaxSystemBytes);
  if (!buffer) {
    return buffer.error();
  }
  flatbuffers::Verifier verifier(buffer->data(), buffer->size());
  if (!file::VerifySystemProgramBuffer(verifier)) {
    return Error{"expected a well-formed FlatBuffer, found a broken one"};
  }
  const file::SystemProgram &from = *file::GetSystemProgram(buffer->data());
  if (from.version() != kSystemFileVersion) {
    return Error{"version: expected " + std::to_string(kSystemFileVersion) +
                 ", found " + std::to_string(from.version())};
  }
  SystemProgram program;
  program.predictedTicks = from.predicted_ticks();
  if (Status read = readParts(from, buffer->size(), program); !read) {
    return read.error();
  }
  if (Status read = readChips(from, program); !read) {
    return read.error();
  }
  Status valid = validateForItsMachine(program);
  return valid ? Expected<SystemProgram>(std::move(program)) : valid.error();
}

} // namespace

Status saveSystemProgram(const SystemProgram &program,
                         const std::string &path) {
  auto bytes = serialize(program);
  if (!bytes) {
    return named(path, bytes.error());
  }
  Status written = replaceFile(path, *bytes);
  return written ? written : named(path, written.error());
}

Expected<SystemProgram> loadSystemProgram(const std::string &path) {
  auto bytes = readWholeFile(path, kMaxSystemBytes);
  return bytes ? parseSystemProgram(*bytes, path) : named(path, bytes.error());
}

Expected<SystemProgram> parseSystemProgram(std::span<const uint8_t> file,
                                           std::string_view where) {
  if (!hasIdentifier(file, kSystemIdentifier)) {
    auto program = parseProgram(file, where);
    return program ? onOneChip(std::move(*program))
                   : Expected<SystemProgram>(program.error());
  }
  auto program = unpackSystem(file);
  return program ? std::move(program) : named(where, program.error());
}

} // namespace orrery
