// SRAM: ports, banks, regions, distances between write and read, KV appends.
#include "tests/simulator/TestChip.h"

#include <gtest/gtest.h>

namespace orrery::sim::test {
namespace {

/// Slice 4 to slice 24 and from there on to slice 30, byte vectors.
struct CopyChip : TestChip {
  uint32_t first, store, second, last;

  explicit CopyChip(Tick distance, uint32_t count = 1, uint32_t stride = 1,
                    RegionKind kind = RegionKind::Temporary) {
    program.bucket = 64;
    region(RegionKind::Table, 4, 1, 0, 0, 64);
    region(kind, 24, 1, 1, 0, 64);
    region(RegionKind::Kv, 30, 1, 0, 0, 64);
    ReadOp in =
        read(4, 1, linear(0, count), {{Direction::East, 3}, g.ofSlice(24)},
             burst(count, stride));
    first = add(0, in);
    Tick taken = readPasses(in, 0, g.ofSlice(24));
    store = add(taken, write(24, 1, linear(0, count), {Direction::East, 3},
                             burst(count, stride), 1));
    ReadOp out =
        read(24, 1, linear(0, count), {{Direction::East, 3}, g.ofSlice(30)},
             burst(count, stride), 1);
    second = add(taken + distance, out);
    last = add(readPasses(out, taken + distance, g.ofSlice(30)),
               write(30, 1, linear(0, count), {Direction::East, 3},
                     burst(count, stride)));
    for (uint32_t n = 0; n < count; ++n) {
      std::memset(image.vector(4, 0, n), int(n) + 1, 32);
    }
  }
  Instruction &at(uint32_t number) { return program.instructions[number]; }
  template <class Op> Op &op(uint32_t number) {
    return std::get<Op>(at(number).operation);
  }
};

TEST(Memory, ReadComesWriteTicksAfterTheWrite) {
  // The same address and, with stride 2 and banks apart in time, the whole
  // burst: read and write of one bank may not share a cycle.
  EXPECT_EQ(CopyChip(2).error(), "");
  std::string error = CopyChip(1).error();
  EXPECT_NE(error.find("slice 24 read: instruction 2 read (layer 0 test)"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("was written in cycle"), std::string::npos) << error;
  EXPECT_NE(CopyChip(-1).error().find("is read before it is written"),
            std::string::npos)
      << CopyChip(-1).error();
}

TEST(Memory, ABurstMayBeReadWhileItIsStillWritten) {
  CopyChip chip(3, 10, 2);
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  for (uint32_t n = 0; n < 10; ++n) {
    EXPECT_EQ(s.sram().vector(30, 0, n)[31], n + 1);
  }
}

TEST(Memory, OneBankIsNotReadAndWrittenInOneCycle) {
  // Distance 4, stride 2: the third write and the first read share a cycle.
  EXPECT_NE(CopyChip(4, 10, 2).error().find("bank 1 is accessed by"),
            std::string::npos);
}

TEST(Memory, AReadUnderWaySeesOldAndNewValues) {
  // KV addresses 0..9 hold 100; the read starts before the write and is
  // overtaken by it: vector n is read at n * 4 + 1, written at n * 2 + 6 + t.
  CopyChip chip(3, 1, 1, RegionKind::Kv);
  chip.program.instructions.clear();
  for (int n = 0; n < 10; ++n) {
    std::memset(chip.image.vector(24, 1, n), 100, 32);
    std::memset(chip.image.vector(4, 0, n), n + 1, 32);
  }
  Tick start = 40;
  auto in =
      TestChip::read(4, 1, linear(0, 10),
                     {{Direction::East, 3}, chip.g.ofSlice(24)}, burst(10, 2));
  chip.add(start, in);
  Tick taken = chip.readPasses(in, start, chip.g.ofSlice(24));
  chip.add(taken, TestChip::write(24, 1, linear(0, 10), {Direction::East, 3},
                                  burst(10, 2), 1));
  auto out = TestChip::read(24, 1, linear(0, 10),
                            {{Direction::East, 3}, chip.g.ofSlice(30)},
                            burst(10, 4), 1);
  // Vector n is read in taken - 9 + 4n and written in taken + 2n: odd and even
  // cycles apart; from n = 5 on the read comes 1 cycle after the write.
  Tick readAt = taken - 9;
  chip.add(readAt, out);
  chip.add(chip.readPasses(out, readAt, chip.g.ofSlice(30)),
           TestChip::write(30, 1, linear(0, 10), {Direction::East, 3},
                           burst(10, 4)));
  EXPECT_NE(chip.error().find("less than 2 cycles after this write"),
            std::string::npos)
      << chip.error();
  // With `write` 1 it is legal, and each vector has the value of its cycle.
  chip.machine.timing.write = 1;
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  for (int n = 0; n < 10; ++n) {
    EXPECT_EQ(s.sram().vector(30, 0, n)[0], n < 5 ? 100 : n + 1) << n;
  }
}

TEST(Memory, ReadOnlyAndUndeclaredMemory) {
  CopyChip table(2, 1, 1, RegionKind::Table);
  EXPECT_NE(table.error().find("write to region 'region 1'"),
            std::string::npos);
  CopyChip outside(2);
  outside.op<WriteOp>(outside.store).address.base = 64;
  EXPECT_NE(outside.error().find("are in no declared region"),
            std::string::npos);
  CopyChip beyond(2);
  beyond.op<WriteOp>(beyond.store).address.base = 256;
  EXPECT_NE(beyond.error().find("of a bank of 256"), std::string::npos);
  CopyChip slices(2);
  slices.op<ReadOp>(slices.first).slice = 40;
  EXPECT_NE(slices.error().find("slices [40, 41) of 40"), std::string::npos);
}

TEST(Memory, TemporariesLiveAsLongAsDeclared) {
  CopyChip chip(2);
  SramRegion &r = chip.program.regions[1];
  r.born = chip.at(chip.store).tick;
  r.dies = chip.at(chip.second).tick + 1;
  EXPECT_EQ(chip.error(), "");
  r.dies -= 1;
  EXPECT_NE(chip.error().find("lives only in cycles"), std::string::npos);
  r.dies += 1;
  r.born += 1;
  EXPECT_NE(chip.error().find("lives only in cycles"), std::string::npos);
}

TEST(Memory, ALaterTemporaryDoesNotLookLikeAnEarlierOne) {
  // Two temporaries share addresses one after the other; the second is read
  // without having been written.
  CopyChip chip(2);
  Tick second = chip.at(chip.second).tick;
  chip.program.regions[1].dies = second;
  chip.region(RegionKind::Temporary, 24, 1, 1, 0, 64, second, second + 9);
  EXPECT_NE(chip.error().find("holds what was written for 'region 1'"),
            std::string::npos)
      << chip.error();
}

TEST(Memory, RegionsDoNotOverlap) {
  CopyChip chip(2);
  chip.region(RegionKind::Kv, 24, 2, 1, 60, 9);
  EXPECT_NE(chip.error().find("overlap"), std::string::npos);
}

TEST(Memory, TemporariesDoNotOutliveAStep) {
  // A step that reads what only the step before wrote.
  CopyChip chip(2);
  Simulator s = chip.simulator();
  ASSERT_TRUE(s.run(chip.program, chip.input));
  Program reader = chip.program;
  reader.instructions.erase(reader.instructions.begin(),
                            reader.instructions.begin() + 2);
  auto result = s.run(reader, chip.input);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("is read before it is written"),
            std::string::npos);
}

TEST(Memory, OneQueueDoesOneBurstAtATime) {
  CopyChip chip(2, 4, 2);
  auto extra = TestChip::read(
      4, 1, linear(0, 1), {{Direction::East, 9}, chip.g.ofSlice(24)}, burst(1));
  chip.add(6, extra);
  EXPECT_NE(chip.error().find("read queue of slice 4 is taken by"),
            std::string::npos);
  chip.program.instructions.back().tick = 7;
  EXPECT_EQ(chip.error().find("read queue of slice 4"), std::string::npos);
}

TEST(Memory, MasksWriteTheirLanesOnly) {
  for (LaneMask mask :
       {LaneMask::Range, LaneMask::TokenLane, LaneMask::TokenSpan}) {
    CopyChip chip(2, 2, 1, RegionKind::Kv);
    chip.program.instructions.resize(2);
    chip.program.tokens = 2;
    chip.input.position = 33; // lane 1
    chip.input.validTokens = mask == LaneMask::TokenLane ? 1 : 2;
    auto &op = chip.op<WriteOp>(chip.store);
    op.mask = mask;
    op.low = 5;
    op.high = 7;
    Simulator s = chip.simulator();
    auto result = s.run(chip.program, chip.input);
    ASSERT_TRUE(result) << result.error().message;
    for (int n = 0; n < 2; ++n) {
      for (int lane = 0; lane < 32; ++lane) {
        bool written = mask == LaneMask::Range       ? lane == 5 || lane == 6
                       : mask == LaneMask::TokenLane ? n == 0 && lane == 1
                                                     : lane == 1 || lane == 2;
        EXPECT_EQ(s.sram().vector(24, 1, n)[lane], written ? n + 1 : 0);
      }
    }
    uint64_t bytes = mask == LaneMask::TokenLane ? 1 : 4;
    EXPECT_EQ(result->counters.slices[24].bytesWritten, bytes);
  }
}

TEST(Memory, PositionMovesAddresses) {
  CopyChip chip(2, 2, 1, RegionKind::Kv);
  chip.program.instructions.resize(2);
  auto &op = chip.op<WriteOp>(chip.store);
  op.address.dynamic = Dynamic::Position;
  op.address.dynamicStep = 3;
  chip.input.position = 7;
  Simulator s = chip.simulator();
  ASSERT_TRUE(s.run(chip.program, chip.input));
  EXPECT_EQ(s.sram().vector(24, 1, 21)[0], 1);
  EXPECT_EQ(s.sram().vector(24, 1, 22)[0], 2);
  op.address.dynamic = Dynamic::Chunk; // 40 / 32 = 1
  op.address.dynamicStep = 30;
  chip.input.position = 40;
  ASSERT_TRUE(s.run(chip.program, chip.input));
  EXPECT_EQ(s.sram().vector(24, 1, 30)[0], 1);
}

TEST(Memory, StripedAppendSpreadsTokensOverSlices) {
  // Two byte planes a token (slices 4, 5), three tokens of which two count,
  // striped over slices 22-25; POS = 6.
  TestChip chip;
  chip.program.tokens = 3;
  chip.input.position = 6;
  chip.input.validTokens = 2;
  chip.region(RegionKind::Table, 4, 2, 0, 0, 64);
  chip.region(RegionKind::Kv, 22, 4, 1, 0, 128);
  for (int plane = 0; plane < 2; ++plane) {
    for (int token = 0; token < 3; ++token) {
      std::memset(chip.image.vector(4 + plane, 0, token),
                  10 * token + plane + 1, 32);
    }
  }
  auto in = TestChip::read(
      4, 2, linear(0, 3), {{Direction::East, 0}, chip.g.ofSlice(25)}, burst(3));
  chip.add(0, in);
  auto out = TestChip::write(22, 4, linear(16, 3, 0), {Direction::East, 0},
                             burst(3), 1);
  out.stripeBytes = 2;
  out.stripeStep = 40;
  chip.add(chip.readPasses(in, 0, chip.g.ofSlice(22)), out);
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  int written = 0;
  for (int slice = 22; slice < 26; ++slice) {
    for (int address = 0; address < 128; ++address) {
      written += s.sram().vector(slice, 1, address)[0] != 0;
    }
  }
  EXPECT_EQ(written, 4);
  for (int token = 0; token < 2; ++token) {
    for (int plane = 0; plane < 2; ++plane) {
      int u = (6 + token) * 2 + plane;
      EXPECT_EQ(s.sram().vector(22 + u % 4, 1, 16 + u / 4)[9],
                10 * token + plane + 1);
    }
  }
  // A later chunk of positions lies stripeStep further.
  chip.input.position = 33;
  chip.input.validTokens = 1;
  ASSERT_TRUE(s.run(chip.program, chip.input));
  EXPECT_EQ(s.sram().vector(22 + 2, 1, 16 + 40)[0], 1);
}

TEST(Memory, WideWestwardReadsMeetAtTheConsumer) {
  // Slices 30-33 read westward: the last one acts first.
  TestChip chip;
  chip.region(RegionKind::Table, 30, 4, 0, 0, 8);
  chip.region(RegionKind::Kv, 8, 4, 0, 0, 8);
  std::vector<float> row(32, 2.5f);
  chip.putF32(30, 3, row);
  auto in = TestChip::read(30, 4, linear(3, 1),
                           {{Direction::West, 0}, chip.g.ofSlice(8)}, burst(1));
  Tick start = 3;
  chip.add(start, in);
  chip.add(chip.readPasses(in, start, chip.g.ofSlice(8)),
           TestChip::write(8, 4, linear(0, 1), {Direction::West, 0}, burst(1)));
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(TestChip::getF32(s.sram(), 8, 0, 32), row);
  EXPECT_EQ(result->executed[0], 3);
  chip.program.instructions[0].tick = 2;
  chip.program.instructions[1].tick -= 1;
  EXPECT_NE(chip.error().find("before cycle 0"), std::string::npos);
}

} // namespace
} // namespace orrery::sim::test
