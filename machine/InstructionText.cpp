#include "machine/InstructionText.h"

#include "machine/Encoding.h"
#include "machine/ProgramFile.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

Bytes roundUp(Bytes bytes, Bytes unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Collects the queues' instructions, then cuts each queue to bytes.
class TextBuilder {
public:
  TextBuilder(const Program &program, const Machine &machine)
      : program(program), machine(machine), geometry(machine.geometry()) {}

  std::vector<QueueText> run() {
    rest.reserve(program.instructions.size());
    for (uint32_t i = 0; i < program.instructions.size(); ++i) {
      const Instruction &each = program.instructions[i];
      rest.push_back(encodedRest(each.operation));
      std::visit([&](const auto &op) { add(op, i, each.tick); },
                 each.operation);
    }
    std::vector<QueueText> texts;
    for (size_t kind = 0; kind < queues.size(); ++kind) {
      for (size_t index = 0; index < queues[kind].size(); ++index) {
        if (!queues[kind][index].empty()) {
          addText({QueueId::Kind(kind), uint16_t(index)}, texts);
        }
      }
    }
    return texts;
  }

private:
  void add(const auto &op, uint32_t i, Tick tick) {
    push(queueOf(op), {i, tick, 0});
  }
  void push(QueueId queue, const TextEntry &entry) {
    auto &ofKind = queues[size_t(queue.kind)];
    if (queue.index >= ofKind.size()) {
      ofKind.resize(size_t(queue.index) + 1);
    }
    ofKind[queue.index].push_back(entry);
  }
  void addText(QueueId queue, std::vector<QueueText> &texts) {
    int64_t before = chunkCount(texts);
    QueueText &text = texts.emplace_back();
    text.queue = queue;
    text.entries = std::move(queues[size_t(queue.kind)][queue.index]);
    measure(text);
    text.firstChunk = before;
    Bytes chunk = machine.fetchBytes();
    text.chunks = roundUp(text.bytes(), chunk) / chunk;
  }
  void add(const ReadOp &op, uint32_t i, Tick tick) {
    addSlices(op, op.out.ref.direction, i, tick);
  }
  void add(const WriteOp &op, uint32_t i, Tick tick) {
    addSlices(op, op.in.direction, i, tick);
  }
  void addSlices(const auto &op, Direction direction, uint32_t i, Tick tick) {
    QueueId queue = queueOf(op);
    for (int32_t k = 0; k < op.width; ++k) {
      Tick apart = geometry.ofSlice(op.slice + k) - geometry.ofSlice(op.slice);
      queue.index = uint16_t(op.slice + k);
      push(queue,
           {i, direction == Direction::East ? tick + apart : tick - apart, 0});
    }
  }

  void measure(QueueText &text) const {
    auto comesBefore = [](const TextEntry &a, const TextEntry &b) {
      return std::pair(a.tick, a.instruction) <
             std::pair(b.tick, b.instruction);
    };
    if (!std::ranges::is_sorted(text.entries, comesBefore)) {
      std::ranges::sort(text.entries, comesBefore);
    }
    Bytes end = 0;
    Tick previous = 0;
    for (TextEntry &entry : text.entries) {
      end +=
          roundUp(encodedDelta(entry.tick - previous) + rest[entry.instruction],
                  machine.instructionBytes);
      entry.end = end;
      previous = entry.tick;
    }
  }

  const Program &program;
  const Machine &machine;
  Geometry geometry;
  std::vector<Bytes> rest; ///< of each instruction, all but the delta
  /// By kind and index.
  std::array<std::vector<std::vector<TextEntry>>, kQueueKinds> queues;
};

} // namespace

std::vector<QueueText> queueTexts(const Program &program,
                                  const Machine &machine) {
  return TextBuilder(program, machine).run();
}

int64_t chunkCount(const std::vector<QueueText> &texts) {
  return texts.empty() ? 0 : texts.back().firstChunk + texts.back().chunks;
}

int64_t heldChunks(const Machine &machine) {
  return machine.queueBytes / machine.fetchBytes();
}

Bytes tableBytes(const Program &program, const Machine &machine) {
  Bytes unit = machine.instructionBytes;
  Bytes total = 0;
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

//===-- Places ------------------------------------------------------------===//

std::string placeName(const ChunkPlace &place) {
  return "slice " + std::to_string(place.slice) + " bank " +
         std::to_string(place.bank) + " address " +
         std::to_string(place.address);
}

ChunkPlaces::ChunkPlaces(const Program &program, const Machine &machine)
    : chunkVectors(uint32_t(machine.fetchVectors)) {
  for (const SramRegion &r : program.regions) {
    if (r.kind == RegionKind::Instructions) {
      regions.push_back(r);
      starts.push_back(starts.back() +
                       int64_t(r.width) * (r.length / chunkVectors));
    }
  }
}

ChunkPlace ChunkPlaces::operator[](int64_t chunk) const {
  auto after = std::ranges::upper_bound(starts, chunk);
  auto index = size_t(after - starts.begin()) - 1;
  const SramRegion &r = regions[index];
  int64_t inSlice = r.length / chunkVectors;
  int64_t within = chunk - starts[index];
  return {uint16_t(r.slice + within / inSlice), r.bank,
          uint32_t(r.base + within % inSlice * chunkVectors)};
}

} // namespace orrery
