// Instruction buffers and the fetches that fill them: legal at cycle c, illegal
// at the next or the one before.
#include "tests/simulator/TestChip.h"

#include <gtest/gtest.h>

#include <functional>

namespace orrery::sim::test {
namespace {

constexpr Tick kFirst = 100, kApart = 10;

/// Copies from slice 4 to slice 12, ten cycles apart. A chunk of text is 64
/// bytes, four instructions; a queue holds one. Chunk n of the program is at
/// address 2n of bank 1 of slice 30: two or more for the read queue of slice 4,
/// as many for the write queue of slice 12, then the ICU's.
struct Copies : TestChip {
  explicit Copies(uint32_t count, uint8_t width = 1) {
    machine.queueBytes = 64;
    region(RegionKind::Table, 4, width, 0, 0, 1);
    region(RegionKind::Kv, 12, width, 0, 0, 1);
    region(RegionKind::Instructions, 30, 1, 1, 0, 200);
    for (uint32_t k = 0; k < count; ++k) {
      Tick tick = kFirst + kApart * Tick(k);
      ReadOp from =
          read(4, width, linear(0, 1),
               {{Direction::East, 0}, g.ofSlice(12 + width - 1)}, burst(1));
      add(tick, from);
      add(readPasses(from, tick, g.ofSlice(12)),
          write(12, width, linear(0, 1), {Direction::East, 0}, burst(1)));
    }
  }
  static constexpr QueueId reads{QueueId::Kind::Read, 4};
  static constexpr QueueId writes{QueueId::Kind::Write, 12};
  static constexpr QueueId icu{QueueId::Kind::Fetch, 0};

  uint32_t fetch(QueueId queue, uint32_t chunk, Tick tick) {
    return add(tick, FetchOp{queue, 30, 1, 2 * chunk});
  }
  /// Cycle in which the k-th write takes its vector: 5 for the read, 8 on the
  /// way.
  static Tick writeTick(uint32_t k) { return kFirst + kApart * Tick(k) + 13; }
};

std::string with(const std::function<void(Copies &)> &edit) {
  Copies chip(6);
  edit(chip);
  return chip.timingError();
}

/// With the fetch of the read queue's second chunk at `tick`.
std::string fetchedAt(Tick tick) {
  return with([=](Copies &chip) {
    chip.fetch(Copies::reads, 1, tick);
    chip.fetch(Copies::writes, 3, 146);
  });
}

// The fourth read, at 130, makes the room; the fifth, at 140, is the first in
// the chunk, which is there 1 + 4 after the fetch.
TEST(Fetch, BetweenRoomAndNeed) {
  EXPECT_NE(fetchedAt(130).find("icu: instruction 12 fetch (layer 0 test), "
                                "cycle 130: the buffer of read slice 4 holds "
                                "64 bytes, found 80 with this fetch"),
            std::string::npos)
      << fetchedAt(130);
  EXPECT_EQ(fetchedAt(131), "");
  EXPECT_EQ(fetchedAt(135), "");
  EXPECT_NE(fetchedAt(136).find(
                "slice 4 read: instruction 8 read (layer 0 test), cycle 140: "
                "read slice 4 is dry: the instruction ends at byte 80 of its "
                "text, found 64 bytes fetched"),
            std::string::npos)
      << fetchedAt(136);
}

TEST(Fetch, AQueueWithoutOneRunsDry) {
  std::string error =
      with([](Copies &chip) { chip.fetch(Copies::reads, 1, 131); });
  EXPECT_NE(error.find("slice 12 write: instruction 9 write"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("cycle 153: write slice 12 is dry"), std::string::npos)
      << error;
  // Four instructions are held, five need the second chunk.
  EXPECT_EQ(Copies(4).timingError(), "");
  EXPECT_NE(Copies(5).timingError(), "");
}

TEST(Fetch, ALargerBufferHoldsMore) {
  Copies chip(8);
  chip.machine.queueBytes = 127;
  EXPECT_NE(chip.timingError(), "");
  chip.machine.queueBytes = 128;
  EXPECT_EQ(chip.timingError(), "");
}

TEST(Fetch, TheNextChunkOfItsQueueFromItsPlace) {
  auto error = [](const FetchOp &op) {
    return with([&](Copies &chip) { chip.add(131, op); });
  };
  EXPECT_NE(error({Copies::reads, 30, 1, 4})
                .find("the next chunk of read slice 4 is at slice 30 bank 1 "
                      "address 2, found slice 30 bank 1 address 4"),
            std::string::npos);
  EXPECT_NE(error({Copies::writes, 30, 1, 2})
                .find("the next chunk of write slice 12 is at slice 30 bank 1 "
                      "address 6"),
            std::string::npos);
  EXPECT_NE(error({{QueueId::Kind::Vector, 0}, 30, 1, 2})
                .find("a fetch past the end of the text of vxm"),
            std::string::npos);
  EXPECT_NE(error({Copies::reads, 40, 1, 2}).find("slice 40 bank 1 of 40"),
            std::string::npos);
  // All of it is there.
  std::string twice = with([](Copies &chip) {
    chip.fetch(Copies::reads, 1, 131);
    chip.fetch(Copies::reads, 2, 145);
  });
  EXPECT_NE(twice.find("a fetch past the end of the text of read slice 4"),
            std::string::npos)
      << twice;
}

TEST(Fetch, TextHasAPlaceForEachChunk) {
  Copies chip(6);
  chip.program.regions[2].length = 3; // one chunk
  chip.fetch(Copies::reads, 1, 131);
  EXPECT_NE(chip.timingError().find("the regions of the text hold 1 chunks, "
                                    "found chunk 1 of read slice 4"),
            std::string::npos)
      << chip.timingError();
}

// The read queue of slice 4 has the port in cycle 130: a fetch of two vectors
// from slice 4 is legal two cycles later or earlier, not one.
TEST(Fetch, TakesTheReadPort) {
  auto at = [](Tick tick) {
    Copies chip(6);
    chip.machine.queueBytes = 128 - 16; // room after the first read
    chip.program.regions[2].slice = 4;
    chip.add(tick, FetchOp{Copies::reads, 4, 1, 2});
    chip.add(145, FetchOp{Copies::writes, 4, 1, 6});
    return chip.timingError();
  };
  EXPECT_EQ(at(128), "");
  for (Tick tick : {129, 130}) {
    EXPECT_NE(at(tick).find("read queue of slice 4"), std::string::npos)
        << at(tick);
  }
  EXPECT_EQ(at(131), "");
}

// The write of slice 12 has bank 0 in cycle 133.
TEST(Fetch, TakesTheBank) {
  auto at = [](Tick tick, uint8_t bank) {
    Copies chip(6);
    chip.program.regions[2].slice = 12;
    chip.program.regions[2].bank = bank;
    chip.program.regions[2].base = 10;
    chip.add(tick, FetchOp{Copies::reads, 12, bank, 12});
    chip.add(146, FetchOp{Copies::writes, 12, bank, 16});
    return chip.timingError();
  };
  EXPECT_EQ(Copies::writeTick(2), 133);
  EXPECT_EQ(at(131, 0), "");
  EXPECT_NE(at(132, 0).find("bank of slice 12: bank 0 is accessed"),
            std::string::npos)
      << at(132, 0);
  EXPECT_NE(at(133, 0), "");
  EXPECT_EQ(at(134, 0), "");
  EXPECT_EQ(at(133, 1), "");
}

TEST(Fetch, OneAtATime) {
  auto at = [](Tick tick) {
    Copies chip(6, 2);
    QueueId other{QueueId::Kind::Read, 5};
    chip.fetch(Copies::reads, 1, 131);
    chip.fetch(other, 3, tick);
    chip.fetch(Copies::writes, 5, 146);
    chip.fetch({QueueId::Kind::Write, 13}, 7, 148);
    return chip.timingError();
  };
  EXPECT_NE(at(132).find("icu: instruction 13 fetch"), std::string::npos)
      << at(132);
  EXPECT_NE(at(132).find("the queue is taken by instruction 12"),
            std::string::npos);
  EXPECT_EQ(at(133), "");
}

// Slice 5 reads a cycle after slice 4.
TEST(Fetch, EachQueueOfAWideInstruction) {
  auto at = [](Tick tick) {
    Copies chip(6, 2);
    chip.fetch(Copies::reads, 1, 131);
    chip.fetch({QueueId::Kind::Read, 5}, 3, tick);
    chip.fetch(Copies::writes, 5, 146);
    chip.fetch({QueueId::Kind::Write, 13}, 7, 148);
    return chip.timingError();
  };
  EXPECT_EQ(at(135), "");
  EXPECT_EQ(at(136), "");
  EXPECT_NE(at(137).find("slices 4-5 read: instruction 8 read (layer 0 test), "
                         "cycle 141: read slice 5 is dry"),
            std::string::npos)
      << at(137);
}

/// Fifteen copies, so that each queue fetches three chunks: six fetches, of
/// which the ICU holds four.
struct ManyCopies : Copies {
  explicit ManyCopies(bool own) : Copies(15) {
    machine.queueBytes = 64 + 16; // room when three were issued
    for (uint32_t k = 1; k <= 3; ++k) {
      Tick tick = kFirst + kApart * Tick(4 * k - 2) + 1;
      fetch(reads, k, tick);
      if (own && k == 2) {
        fetch(icu, 9, tick + 8); // the fourth
      }
      fetch(writes, 4 + k, tick + 16);
    }
  }
};

TEST(Fetch, TheIcuFetchesItsOwnText) {
  EXPECT_EQ(ManyCopies(true).timingError(), "");
  std::string error = ManyCopies(false).timingError();
  EXPECT_NE(error.find("icu is dry"), std::string::npos) << error;
}

TEST(Fetch, BooksAddUp) {
  Copies chip(6);
  uint32_t first = chip.fetch(Copies::reads, 1, 131);
  chip.fetch(Copies::writes, 3, 146);
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->executed[first], 131);
  EXPECT_EQ(result->completed[first], 136);
  const Counters &c = result->counters;
  EXPECT_EQ(c.fetchedBytes, 2u * 64);
  EXPECT_EQ(c.slices[30].bytesRead, 2u * 64);
  EXPECT_EQ(c.bytesRead(), 6u * 32 + 2 * 64);
  EXPECT_EQ(c.readBytesTaken, c.bytesRead());
  EXPECT_EQ(c.readBytesDropped, 0u);
  const UnitCounters &icu = c.units[UnitIndex(chip.machine).fetch()];
  EXPECT_EQ(icu.name, "icu");
  EXPECT_EQ(icu.instructions, 2u);
  EXPECT_EQ(icu.vectors, 4u);
  EXPECT_EQ(icu.busyTicks, 4u);
  EXPECT_DOUBLE_EQ(c.energy.sramReadJoules, double(6 * 32 + 2 * 64) * 2e-12);
}

/// A chip that waits does so while it fetches.
TEST(Fetch, IsNoWork) {
  Copies without(4), chip(6);
  chip.fetch(Copies::reads, 1, 131);
  chip.fetch(Copies::writes, 3, 146);
  auto waits = [](const Copies &c) {
    Simulator s(c.machine);
    auto result = s.run(c.program, c.input);
    return result ? result->counters.otherWaitTicks : 0;
  };
  Copies same(6);
  same.machine.queueBytes = 128;
  EXPECT_GT(waits(without), 0u);
  EXPECT_EQ(waits(chip), waits(same));
}

} // namespace
} // namespace orrery::sim::test
