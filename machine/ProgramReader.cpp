#include "machine/Encoding.h"
#include "machine/ProgramFile.h"

#include "Program_generated.h"

#include <set>

namespace orrery {

namespace {

Error expectedFound(const char *what, uint64_t expected, uint64_t found) {
  return {std::string(what) + ": expected " + std::to_string(expected) +
          ", found " + std::to_string(found)};
}

/// What the tables of `from` make a reader copy. Offsets of a file made to harm
/// may all lead to the same long text.
uint64_t copiedBytes(const file::Program &from) {
  uint64_t sum = 0;
  for (const file::Region *region : *from.regions()) {
    sum += region->name()->size();
  }
  for (const file::VectorProgram *each : *from.vector_programs()) {
    sum += each->inputs()->size() + each->steps()->size() * kStepBytes +
           each->outputs()->size() * kOutputBytes;
  }
  for (const file::LaneMap *map : *from.lane_maps()) {
    sum += map->lanes()->size() * sizeof(uint16_t);
  }
  for (const flatbuffers::String *location : *from.locations()) {
    sum += location->size();
  }
  return sum;
}

void readRegions(const file::Program &from, Program &program) {
  for (const file::Region *r : *from.regions()) {
    program.regions.push_back({r->name()->str(), RegionKind(r->kind()),
                               r->slice(), r->width(), r->bank(), r->base(),
                               r->length(), r->born(), r->dies()});
  }
}

VectorProgram vectorProgram(const file::VectorProgram &from) {
  VectorProgram program;
  for (uint8_t type : *from.inputs()) {
    program.inputs.push_back(StreamType(type));
  }
  for (const file::AluStep *s : *from.steps()) {
    program.steps.push_back({AluOp(s->op()),
                             s->a(),
                             s->b(),
                             s->immediate(),
                             s->bound(),
                             s->position(),
                             s->width(),
                             {s->token_divide(), s->token_modulo()},
                             {s->tile_divide(), s->tile_modulo()}});
  }
  for (const file::VectorOutput *o : *from.outputs()) {
    program.outputs.push_back(
        {o->value(), StreamType(o->type()), Reduction(o->reduction())});
  }
  program.group = from.group();
  return program;
}

void readTables(const file::Program &from, Program &program) {
  for (const file::VectorProgram *each : *from.vector_programs()) {
    program.vectorPrograms.push_back(vectorProgram(*each));
  }
  for (const file::LaneMap *map : *from.lane_maps()) {
    program.laneMaps.emplace_back(map->lanes()->begin(), map->lanes()->end());
  }
  for (const flatbuffers::String *location : *from.locations()) {
    program.locations.push_back(location->str());
  }
}

void readHeader(const file::Program &from, Program &program) {
  program.machineJson = from.machine()->str();
  program.modelName = from.model_name()->str();
  program.modelHash = from.model_hash();
  program.tokens = from.tokens();
  program.bucket = from.bucket();
  program.context = from.context();
  program.inputVectors = from.input_vectors();
  program.predictedTicks = from.predicted_ticks();
  const file::LogitsPlace &place = *from.logits();
  program.logits = {place.slice(), place.bank(), place.base(), place.vectors(),
                    place.vocab()};
}

//===-- Instructions ------------------------------------------------------===//

/// What is left of a queue's text.
struct QueueText {
  QueueId id;
  std::span<const uint8_t> rest;
  Tick last = 0;
};

Expected<std::vector<QueueText>> queueTexts(const file::Program &from) {
  std::vector<QueueText> queues;
  std::set<QueueId> seen;
  for (const file::Queue *queue : *from.queues()) {
    if (queue->kind() >= kQueueKinds) {
      return expectedFound("queue kind: at most", kQueueKinds - 1,
                           queue->kind());
    }
    QueueId id{QueueId::Kind(queue->kind()), queue->index()};
    if (!seen.insert(id).second) {
      return Error{queueName(id) + ": expected one text, found two"};
    }
    queues.push_back({id, {queue->text()->data(), queue->text()->size()}});
  }
  return queues;
}

/// Decodes the next instruction of `queue`.
Expected<Instruction> next(QueueText &queue) {
  Expected<Instruction> instruction = decode(queue.id, queue.last, queue.rest);
  if (!instruction) {
    return Error{queueName(queue.id) + ": " + instruction.error().message};
  }
  queue.last = instruction->tick;
  return instruction;
}

Status readInstructions(const file::Program &from, Program &program) {
  auto queues = queueTexts(from);
  if (!queues) {
    return queues.error();
  }
  if (from.lines()->size() != from.order()->size()) {
    return expectedFound("locations of instructions", from.order()->size(),
                         from.lines()->size());
  }
  program.instructions.reserve(from.order()->size());
  for (uint32_t i = 0; i < from.order()->size(); ++i) {
    uint16_t number = from.order()->Get(i);
    if (number >= queues->size()) {
      return expectedFound("queues: more than", number, queues->size());
    }
    Expected<Instruction> instruction = next((*queues)[number]);
    if (!instruction) {
      return instruction.error();
    }
    instruction->location = from.lines()->Get(i);
    program.instructions.push_back(*instruction);
  }
  for (const QueueText &queue : *queues) {
    if (!queue.rest.empty()) {
      return Error{queueName(queue.id) + ": expected the text to end, found " +
                   std::to_string(queue.rest.size()) + " more bytes"};
    }
  }
  return Success{};
}

} // namespace

Expected<Program> programFromBytes(std::span<const uint8_t> bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  if (!file::VerifyProgramBuffer(verifier)) {
    return Error{"expected a well-formed FlatBuffer, found a broken one"};
  }
  const file::Program &from = *file::GetProgram(bytes.data());
  if (from.version() != kProgramFileVersion) {
    return expectedFound("version", kProgramFileVersion, from.version());
  }
  if (from.encoding() != kEncodingVersion) {
    return expectedFound("encoding version", kEncodingVersion, from.encoding());
  }
  if (uint64_t copied = copiedBytes(from); copied > bytes.size()) {
    return Error{"tables: " + tooLarge(copied, bytes.size()).message};
  }
  Program program{};
  readHeader(from, program);
  readRegions(from, program);
  readTables(from, program);
  if (Status status = readInstructions(from, program); !status) {
    return status.error();
  }
  return program;
}

} // namespace orrery
