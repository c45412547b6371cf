// What stands in each queue's text, in how many bytes, and where it lies.
#include "machine/InstructionText.h"

#include "machine/Encoding.h"
#include "machine/Timing.h"
#include "tests/machine/RandomProgram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace orrery {
namespace {

Machine small() { return *loadMachine("lpu-small"); }

ReadOp readOf(uint16_t slice, uint8_t width, Direction direction) {
  ReadOp read;
  read.slice = slice;
  read.width = width;
  read.out.ref.direction = direction;
  return read;
}

std::vector<uint32_t> instructionsOf(const QueueText &text) {
  std::vector<uint32_t> all;
  for (const TextEntry &e : text.entries) {
    all.push_back(e.instruction);
  }
  return all;
}

// Slices 10 and 12 stand two positions apart.
TEST(InstructionText, AWideOneStandsInEachQueueAtItsTickThere) {
  Program p{};
  p.instructions = {{100, 0, readOf(10, 3, Direction::East)},
                    {101, 0, readOf(12, 1, Direction::East)},
                    {110, 0, readOf(10, 3, Direction::West)}};
  auto texts = queueTexts(p, small());
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].queue, (QueueId{QueueId::Kind::Read, 10}));
  EXPECT_EQ(instructionsOf(texts[0]), (std::vector<uint32_t>{0, 2}));
  // In slice 12 the first comes at 102 and the third at 108.
  EXPECT_EQ(instructionsOf(texts[2]), (std::vector<uint32_t>{1, 0, 2}));
  EXPECT_EQ(texts[2].entries[1].tick, 102);
  EXPECT_EQ(texts[2].entries[2].tick, 108);
  EXPECT_EQ(texts[2].bytes(), 3 * 16);
}

TEST(InstructionText, ChunksAreWholeAndCounted) {
  Program p{};
  p.instructions.assign(17, {5, 0, SendOp()}); // 128 bytes are eight
  p.instructions.push_back({6, 0, FetchOp{{QueueId::Kind::Send, 0}, 0, 0, 0}});
  p.instructions.insert(p.instructions.begin(), {1, 0, ReceiveOp()});
  auto texts = queueTexts(p, small());
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].chunks, 1);
  EXPECT_EQ(texts[1].firstChunk, 1);
  EXPECT_EQ(texts[1].chunks, 3);
  EXPECT_EQ(texts[2].queue.kind, QueueId::Kind::Fetch);
  EXPECT_EQ(texts[2].firstChunk, 4);
  EXPECT_EQ(chunkCount(texts), 5);
  EXPECT_EQ(heldChunks(small()), 8);
}

// Each queue's bytes are those of its instructions' encodings, one after
// another.
TEST(InstructionText, IsTheEncodingOfRandomPrograms) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine machine = small();
    machine.instructionBytes = 11;
    Program p = testing::RandomProgram(seed, machine).make(30);
    std::multiset<uint32_t> seen;
    for (const QueueText &text : queueTexts(p, machine)) {
      Tick before = 0;
      Bytes end = 0;
      for (const TextEntry &e : text.entries) {
        Instruction copy = p.instructions[e.instruction];
        EXPECT_GE(e.tick, before);
        copy.tick = e.tick;
        std::vector<uint8_t> bytes;
        encode(copy, before, bytes);
        end += Bytes(bytes.size() + 10) / 11 * 11;
        EXPECT_EQ(e.end, end);
        EXPECT_EQ(encodedBytes(copy, before, machine),
                  Bytes(bytes.size() + 10) / 11 * 11);
        before = e.tick;
        seen.insert(e.instruction);
      }
    }
    for (uint32_t i = 0; i < p.instructions.size(); ++i) {
      auto *read = std::get_if<ReadOp>(&p.instructions[i].operation);
      auto *write = std::get_if<WriteOp>(&p.instructions[i].operation);
      size_t width = read ? read->width : write ? write->width : 1;
      EXPECT_EQ(seen.count(i), width);
    }
  }
}

TEST(ChunkPlaces, RegionAfterRegionSliceAfterSlice) {
  Program p{};
  p.regions = {{"w", RegionKind::Weight, 0, 4, 0, 0, 100, 0, 0},
               {"a", RegionKind::Instructions, 5, 2, 1, 40, 5, 0, 0},
               {"b", RegionKind::Instructions, 9, 1, 0, 8, 1, 0, 0},
               {"c", RegionKind::Instructions, 3, 1, 0, 7, 2, 0, 0}};
  ChunkPlaces places(p, small());
  ASSERT_EQ(places.count(), 5); // two vectors each: one of five is left over
  EXPECT_EQ(places[0], (ChunkPlace{5, 1, 40}));
  EXPECT_EQ(places[1], (ChunkPlace{5, 1, 42}));
  EXPECT_EQ(places[2], (ChunkPlace{6, 1, 40}));
  EXPECT_EQ(places[3], (ChunkPlace{6, 1, 42}));
  EXPECT_EQ(places[4], (ChunkPlace{3, 0, 7}));
  EXPECT_EQ(placeName(places[4]), "slice 3 bank 0 address 7");
}

TEST(Fetch, ArrivesItsLatencyAfterTheLastVector) {
  Machine machine = small();
  machine.fetchVectors = 3;
  machine.timing.fetch = 7;
  EXPECT_EQ(fetchArrival(machine, 100), 100 + 2 + 7);
  EXPECT_EQ(machine.fetchBytes(), 3 * 64);
}

} // namespace
} // namespace orrery
