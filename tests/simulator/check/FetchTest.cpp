// Rules fetch and dry, one at a time: legal at tick c, illegal beside it.
#include "tests/simulator/check/TinyProgram.h"

#include <gtest/gtest.h>

namespace orrery::check {
namespace {

using Rules = std::set<std::string>;
using test::TinyProgram;

constexpr QueueId kReads{QueueId::Kind::Read, 0};
constexpr QueueId kWrites{QueueId::Kind::Write, 8};

/// Ten copies, ten ticks apart, from slice 0 to slice 8. A chunk is 128 bytes,
/// eight instructions, and all that a queue holds. Chunks lie from address 0 of
/// bank 1 of slice 55 on: two of the read queue, two of the write queue, one of
/// the ICU.
struct Copies : TinyProgram {
  Copies() {
    machine.queueBytes = 128;
    region(RegionKind::Table, 0, 1, 0, 0, 1);
    region(RegionKind::Kv, 8, 1, 0, 0, 1);
    for (int k = 0; k < 10; ++k) {
      copy(0, 0, 0, 8, 0, 0, 4, writeTick(k));
    }
  }
  static Tick writeTick(int k) { return 113 + 10 * k; }
  /// Of the k-th read: 5 ticks of reading, 8 on the way.
  static Tick readTick(int k) { return 100 + 10 * k; }
  void fetch(QueueId queue, uint32_t chunk, Tick tick) {
    add(tick, FetchOp{queue, 55, 1, 2 * chunk});
  }
};

/// With a fetch for each queue.
Rules fetchedAt(Tick reads, Tick writes) {
  Copies t;
  t.fetch(kReads, 1, reads);
  t.fetch(kWrites, 3, writes);
  return t.broken();
}

// Latency of a fetch on the chip: 1 more vector and 6 ticks. The eighth read
// makes the room, the ninth needs the chunk.
TEST(FetchRules, RoomAndNeed) {
  Tick room = Copies::readTick(7) + 1, late = Copies::readTick(8) - 7;
  Tick writes = Copies::writeTick(7) + 1;
  EXPECT_EQ(fetchedAt(room, writes), Rules());
  EXPECT_EQ(fetchedAt(room - 1, writes), Rules{"fetch"});
  EXPECT_EQ(fetchedAt(late, writes), Rules());
  EXPECT_EQ(fetchedAt(late + 1, writes), Rules{"dry"});
}

TEST(FetchRules, NothingFetched) {
  Copies t;
  Report report = t.check();
  ASSERT_EQ(report.violations.size(), 2u);
  EXPECT_EQ(report.violations[0].message,
            "dry: MEM slice 0 read port: instruction 15 read (here) due at "
            "tick 180: read slice 0 needs bytes up to 144 of its text, and "
            "nothing fetches chunk 1");
  t.machine.queueBytes = 256;
  EXPECT_EQ(t.broken(), Rules());
}

TEST(FetchRules, TheWrongChunk) {
  Tick tick = Copies::readTick(7) + 1;
  auto broken = [&](const FetchOp &op) {
    Copies t;
    t.add(tick, op);
    t.fetch(kReads, 1, tick + 2);
    t.fetch(kWrites, 3, Copies::writeTick(7) + 1);
    return t.broken();
  };
  // Of a queue that has none, of another queue, from elsewhere.
  EXPECT_EQ(broken({{QueueId::Kind::Vector, 0}, 55, 1, 2}), Rules{"fetch"});
  EXPECT_TRUE(broken({kWrites, 55, 1, 2}).contains("fetch"));
  EXPECT_EQ(broken({kReads, 55, 1, 4}), Rules{"fetch"});
  EXPECT_EQ(broken({kReads, 54, 1, 2}), Rules{"fetch"});
  // Once more than there are chunks.
  EXPECT_EQ(broken({kReads, 55, 1, 2}), Rules{"fetch"});
}

TEST(FetchRules, FieldsMeanSomething) {
  auto broken = [&](const FetchOp &op) {
    Copies t;
    t.add(0, op);
    return t.broken();
  };
  EXPECT_EQ(broken({{QueueId::Kind::Read, 56}, 55, 1, 2}), Rules{"form"});
  EXPECT_EQ(broken({{QueueId::Kind::Load, 4}, 55, 1, 2}), Rules{"form"});
  EXPECT_EQ(broken({{QueueId::Kind::Send, 8}, 55, 1, 2}), Rules{"form"});
  EXPECT_EQ(broken({kReads, 56, 1, 2}), Rules{"form"});
  EXPECT_EQ(broken({kReads, 55, 2, 2}), Rules{"form"});
  EXPECT_EQ(broken({kReads, 55, 1, 4095}), Rules{"form"});
}

// The text in slice 0, bank 1, whose read port works for the copies.
TEST(FetchRules, ThePortIsTheSlices) {
  auto at = [](Tick tick) {
    Copies t;
    t.machine.queueBytes = 256 - 16; // room after the first
    t.p.regions[0].slice = 0;
    t.add(tick, FetchOp{kReads, 0, 1, 2});
    t.add(Copies::readTick(7) + 4, FetchOp{kWrites, 0, 1, 6});
    return t.broken();
  };
  Tick read = Copies::readTick(5);
  EXPECT_EQ(at(read - 2), Rules());
  EXPECT_EQ(at(read - 1), Rules{"port"});
  EXPECT_EQ(at(read), Rules{"port"});
  EXPECT_EQ(at(read + 1), Rules());
}

// The text in slice 8, in the bank of the writes or the other.
TEST(FetchRules, TheBankIsFree) {
  auto at = [](Tick tick, uint8_t bank) {
    Copies t;
    t.machine.queueBytes = 256 - 16;
    t.p.regions[0] = {"text", RegionKind::Instructions, 8, 1, bank, 10, 100};
    t.add(tick, FetchOp{kReads, 8, bank, 12});
    t.add(Copies::writeTick(7) + 2, FetchOp{kWrites, 8, bank, 16});
    return t.broken();
  };
  Tick write = Copies::writeTick(5);
  EXPECT_EQ(at(write - 2, 0), Rules());
  EXPECT_EQ(at(write - 1, 0), Rules{"bank"});
  EXPECT_EQ(at(write, 0), Rules{"bank"});
  EXPECT_EQ(at(write + 1, 0), Rules());
  EXPECT_EQ(at(write, 1), Rules());
}

TEST(FetchRules, OneAtATime) {
  auto at = [](Tick tick) {
    Copies t;
    t.machine.queueBytes = 256 - 16;
    t.fetch(kReads, 1, 140);
    t.fetch(kWrites, 3, tick);
    return t.broken();
  };
  EXPECT_EQ(at(141), Rules{"port"});
  EXPECT_EQ(at(142), Rules());
}

TEST(FetchRules, TextHasPlacesInWholeChunks) {
  Copies t;
  t.machine.queueBytes = 256;
  t.p.regions[0].length = 8; // two chunks of each queue
  EXPECT_EQ(t.broken(), Rules());
  // As many vectors, but not two beside each other.
  t.p.regions[0].length = 7;
  t.region(RegionKind::Instructions, 54, 1, 1, 0, 1);
  EXPECT_EQ(t.broken(), Rules{"capacity"});
}

} // namespace
} // namespace orrery::check
