#include "machine/Encoding.h"
#include "machine/ProgramFile.h"

#include "Program_generated.h"

#include <map>

namespace orrery {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

static_assert(sizeof(file::AluStep) == kStepBytes);
static_assert(sizeof(file::VectorOutput) == kOutputBytes);

auto regionsToFile(const Program &program, FlatBufferBuilder &builder) {
  std::vector<Offset<file::Region>> regions;
  for (const SramRegion &r : program.regions) {
    auto name = builder.CreateString(r.name);
    regions.push_back(file::CreateRegion(builder, name, uint8_t(r.kind),
                                         r.slice, r.width, r.bank, r.base,
                                         r.length, r.born, r.dies));
  }
  return builder.CreateVector(regions);
}

Offset<file::VectorProgram> vectorProgramToFile(const VectorProgram &program,
                                                FlatBufferBuilder &builder) {
  std::vector<uint8_t> inputs;
  for (StreamType type : program.inputs) {
    inputs.push_back(uint8_t(type));
  }
  std::vector<file::AluStep> steps;
  for (const AluStep &s : program.steps) {
    steps.emplace_back(uint8_t(s.op), s.a, s.b, s.position, s.immediate,
                       s.bound, s.width, s.token.divide, s.token.modulo,
                       s.tile.divide, s.tile.modulo);
  }
  std::vector<file::VectorOutput> outputs;
  for (const VectorOutput &o : program.outputs) {
    outputs.emplace_back(o.value, uint8_t(o.type), uint8_t(o.reduction));
  }
  auto inputVector = builder.CreateVector(inputs);
  auto stepVector = builder.CreateVectorOfStructs(steps);
  auto outputVector = builder.CreateVectorOfStructs(outputs);
  return file::CreateVectorProgram(builder, inputVector, stepVector,
                                   outputVector, program.group);
}

auto vectorProgramsToFile(const Program &program, FlatBufferBuilder &builder) {
  std::vector<Offset<file::VectorProgram>> programs;
  for (const VectorProgram &each : program.vectorPrograms) {
    programs.push_back(vectorProgramToFile(each, builder));
  }
  return builder.CreateVector(programs);
}

auto laneMapsToFile(const Program &program, FlatBufferBuilder &builder) {
  std::vector<Offset<file::LaneMap>> maps;
  for (const std::vector<uint16_t> &map : program.laneMaps) {
    maps.push_back(file::CreateLaneMap(builder, builder.CreateVector(map)));
  }
  return builder.CreateVector(maps);
}

struct QueueText {
  std::vector<uint8_t> text;
  Tick last = 0;
  uint16_t number = 0; ///< place in the file's list of queues
};
using QueueTexts = std::map<QueueId, QueueText>;

QueueTexts encodeQueues(const Program &program) {
  QueueTexts queues;
  for (const Instruction &instruction : program.instructions) {
    QueueText &queue = queues[queueOf(instruction.operation)];
    encode(instruction, queue.last, queue.text);
    queue.last = instruction.tick;
  }
  uint16_t number = 0;
  for (auto &[id, queue] : queues) {
    queue.number = number++;
  }
  return queues;
}

auto queuesToFile(const QueueTexts &queues, FlatBufferBuilder &builder) {
  std::vector<Offset<file::Queue>> tables;
  for (const auto &[id, queue] : queues) {
    auto text = builder.CreateVector(queue.text);
    tables.push_back(
        file::CreateQueue(builder, uint8_t(id.kind), id.index, text));
  }
  return builder.CreateVector(tables);
}

} // namespace

std::vector<uint8_t> programToBytes(const Program &program) {
  QueueTexts queues = encodeQueues(program);
  std::vector<uint16_t> order;
  std::vector<uint32_t> lines;
  for (const Instruction &instruction : program.instructions) {
    order.push_back(queues.at(queueOf(instruction.operation)).number);
    lines.push_back(instruction.location);
  }
  // One by one: the order of arguments, and so of bytes, differs by compiler.
  FlatBufferBuilder builder;
  auto machine = builder.CreateString(program.machineJson);
  auto model = builder.CreateString(program.modelName);
  auto regions = regionsToFile(program, builder);
  auto vectorPrograms = vectorProgramsToFile(program, builder);
  auto laneMaps = laneMapsToFile(program, builder);
  auto locations = builder.CreateVectorOfStrings(program.locations);
  auto queueTables = queuesToFile(queues, builder);
  auto orderVector = builder.CreateVector(order);
  auto linesVector = builder.CreateVector(lines);
  const LogitsPlace &place = program.logits;
  file::LogitsPlace logits(place.slice, place.bank, place.base, place.vectors,
                           place.vocab);
  file::FinishProgramBuffer(
      builder, file::CreateProgram(
                   builder, kProgramFileVersion, kEncodingVersion, machine,
                   model, program.modelHash, program.tokens, program.bucket,
                   program.context, program.inputVectors,
                   program.predictedTicks, &logits, regions, vectorPrograms,
                   laneMaps, locations, queueTables, orderVector, linesVector));
  const uint8_t *bytes = builder.GetBufferPointer();
  return {bytes, bytes + builder.GetSize()};
}

} // namespace orrery
