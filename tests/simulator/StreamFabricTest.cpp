// Diagonals, ranges, conflicts: the rule of machine/README.md, sections 1, 2.
#include "simulator/timing/StreamFabric.h"
#include "tests/simulator/TestChip.h"

#include <gtest/gtest.h>

namespace orrery::sim::test {
namespace {

struct Fabric {
  StreamFabric fabric{smallMachine()};

  /// From `from` at `tick`, `count` vectors every `stride`.
  BurstSlot drive(Direction d, uint8_t stream, Position from, Position stop,
                  Tick tick, BurstShape shape = {}) {
    DrivenBurst b;
    b.direction = d;
    b.firstStream = stream;
    b.diagonals = ticksOf(diagonal(d, tick, from), shape);
    b.stop = stop;
    b.instruction = ++number;
    return fabric.publish(b, {&from, 1}, tick);
  }
  std::string driveError(Direction d, uint8_t stream, Position from,
                         Position stop, Tick tick, BurstShape shape = {}) {
    try {
      drive(d, stream, from, stop, tick, shape);
      return "";
    } catch (const Illegal &illegal) {
      return illegal.found;
    }
  }
  std::string takeError(Direction d, uint32_t stream, Position at, Tick tick,
                        BurstShape shape = {}) {
    try {
      fabric.take(d, stream, at, ticksOf(tick, shape));
      return "";
    } catch (const Illegal &illegal) {
      return illegal.found;
    }
  }
  uint32_t number = 0;
};

TEST(StreamFabric, OneCycleAndOnePositionATime) {
  Fabric f;
  f.drive(Direction::East, 3, 10, 20, 100);
  EXPECT_EQ(f.takeError(Direction::East, 3, 15, 105), "");
  EXPECT_EQ(f.takeError(Direction::East, 3, 20, 110), "");
  EXPECT_NE(f.takeError(Direction::East, 3, 15, 104), "");
  EXPECT_NE(f.takeError(Direction::East, 3, 15, 106), "");
  EXPECT_NE(f.takeError(Direction::East, 4, 15, 105), "");
  EXPECT_NE(f.takeError(Direction::West, 3, 15, 105), "");
  f.drive(Direction::West, 3, 20, 10, 100);
  EXPECT_EQ(f.takeError(Direction::West, 3, 12, 108), "");
  EXPECT_NE(f.takeError(Direction::West, 3, 12, 92), "");
}

TEST(StreamFabric, RangeExcludesTheProducerAndIncludesStop) {
  Fabric f;
  f.drive(Direction::East, 0, 10, 12, 0);
  EXPECT_NE(f.takeError(Direction::East, 0, 10, 0), "");
  EXPECT_EQ(f.takeError(Direction::East, 0, 11, 1), "");
  EXPECT_EQ(f.takeError(Direction::East, 0, 12, 2), "");
  EXPECT_NE(f.takeError(Direction::East, 0, 13, 3), "");
  EXPECT_NE(f.driveError(Direction::East, 0, 10, 10, 9).find("downstream"),
            std::string::npos);
  EXPECT_NE(f.driveError(Direction::West, 0, 10, 11, 9).find("downstream"),
            std::string::npos);
}

TEST(StreamFabric, ConflictNeedsDiagonalAndRange) {
  Fabric f;
  f.drive(Direction::East, 0, 10, 20, 0);
  // On the same diagonal, but beyond the stop, or up to the producer.
  EXPECT_EQ(f.driveError(Direction::East, 0, 20, 25, 10), "");
  EXPECT_EQ(f.driveError(Direction::East, 0, 5, 10, -5), "");
  // One position of the range in common.
  EXPECT_NE(f.driveError(Direction::East, 0, 19, 25, 9), "");
  EXPECT_NE(f.driveError(Direction::East, 0, 5, 11, -5), "");
  // A cycle later it is another diagonal.
  EXPECT_EQ(f.driveError(Direction::East, 0, 15, 25, 6), "");
  EXPECT_EQ(f.driveError(Direction::East, 1, 15, 25, 5), "");
}

TEST(StreamFabric, StridedBurstsInterleave) {
  Fabric f;
  f.drive(Direction::East, 0, 10, 20, 0, burst(8, 2));
  EXPECT_EQ(f.driveError(Direction::East, 0, 10, 20, 1, burst(8, 2)), "");
  EXPECT_NE(f.driveError(Direction::East, 0, 12, 20, 4, burst(3, 3)), "");
  // Each consumer finds its own burst.
  EXPECT_EQ(f.takeError(Direction::East, 0, 15, 6, burst(4, 2)), "");
  EXPECT_EQ(f.takeError(Direction::East, 0, 15, 9, burst(4, 2)), "");
  EXPECT_NE(f.takeError(Direction::East, 0, 15, 6, burst(4, 1)), "");
}

TEST(StreamFabric, APartOfABurstMayBeTaken) {
  Fabric f;
  BurstSlot slot = f.drive(Direction::East, 0, 10, 20, 0, {4, 1, 3, 10});
  TakenStream part =
      f.fabric.take(Direction::East, 0, 12, ticksOf(12, {4, 1, 2, 10}));
  EXPECT_EQ(part.slot, slot);
  EXPECT_EQ(part.vector, 4u);
  // Past the end of the burst there is nothing.
  EXPECT_NE(f.takeError(Direction::East, 0, 12, 22, {4, 1, 2, 10}), "");
  f.fabric.finish();
  EXPECT_EQ(f.fabric.totals(Direction::East, 0).vectors, 12u);
  EXPECT_EQ(f.fabric.totals(Direction::East, 0).dropped, 4u);
}

TEST(StreamFabric, CountsWhatNobodyTook) {
  Fabric f;
  f.drive(Direction::East, 0, 10, 20, 0, burst(10));
  f.fabric.take(Direction::East, 0, 12, ticksOf(2, burst(3)));
  f.fabric.take(Direction::East, 0, 12, ticksOf(8, burst(2)));
  f.fabric.take(Direction::East, 0, 15, ticksOf(6, burst(4)));
  f.fabric.finish();
  // Vectors 0-2, 6-7 and 1-4 were taken.
  EXPECT_EQ(f.fabric.totals(Direction::East, 0).dropped, 3u);
  EXPECT_EQ(f.fabric.totals(Direction::East, 0).hops, 100u);
}

TEST(StreamFabric, OldBurstsMakeRoom) {
  Fabric f;
  for (Tick t = 0; t < 10000; t += 5) {
    BurstSlot slot = f.drive(Direction::West, 7, 40, 3, t);
    EXPECT_LT(slot, 64u); // slots are used again
    f.fabric.take(Direction::West, 7, 10, ticksOf(t + 30, {}));
  }
}

} // namespace
} // namespace orrery::sim::test
