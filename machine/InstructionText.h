// The text of each instruction queue: which instructions it holds, in which
// order and in how many bytes, and where in SRAM it lies. Compiler, simulator
// and checker agree on that here. Not here: when text is fetched.
//
// A queue's instructions are in the order of their ticks; a wide read or write
// stands in the queue of each slice of its range. An instruction takes the
// bytes of its encoding (Encoding.h, the delta from the instruction before it
// in this queue), in whole units of icu.instruction_bytes.
//
// A text is cut into chunks of Machine::fetchBytes. Chunk after chunk, queue
// after queue in the order of QueueId, they lie in the regions of kind
// Instructions: region after region in the program's order, slice after slice
// of each, from its base on, as many as have room in whole. Behind them lie
// vector programs and lane maps, which are not fetched.
#pragma once

#include "machine/Program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// An instruction in the text of one queue.
struct TextEntry {
  uint32_t instruction; ///< index into Program::instructions
  Tick tick;            ///< at which this queue issues it
  Bytes end;            ///< of its bytes, from the start of the queue's text
};

struct QueueText {
  QueueId queue;
  std::vector<TextEntry> entries; ///< at least one
  int64_t firstChunk = 0;         ///< among all chunks of the program
  int64_t chunks = 0;

  Bytes bytes() const { return entries.back().end; }
};

/// The texts of all queues that have instructions, by QueueId.
std::vector<QueueText> queueTexts(const Program &program,
                                  const Machine &machine);
/// Chunks of all of them.
int64_t chunkCount(const std::vector<QueueText> &texts);
/// Chunks that a queue holds before tick 0: as many as its buffer takes whole.
int64_t heldChunks(const Machine &machine);
/// SRAM bytes of vector programs and lane maps.
Bytes tableBytes(const Program &program, const Machine &machine);

/// The first of a chunk's vectors.
struct ChunkPlace {
  uint16_t slice;
  uint8_t bank;
  uint32_t address;
  bool operator==(const ChunkPlace &) const = default;
};
/// "slice 3 bank 1 address 40"
std::string placeName(const ChunkPlace &place);

/// Where the chunks of a program lie.
class ChunkPlaces {
public:
  ChunkPlaces(const Program &program, const Machine &machine);

  /// Chunks that the regions have room for.
  int64_t count() const { return starts.back(); }
  /// Of a chunk below count().
  ChunkPlace operator[](int64_t chunk) const;

private:
  std::vector<SramRegion> regions; ///< of kind Instructions
  std::vector<int64_t> starts{0};  ///< first chunk of each region; their count
  uint32_t chunkVectors;
};

} // namespace orrery
