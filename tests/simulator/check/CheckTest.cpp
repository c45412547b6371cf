// One rule at a time: legal at cycle c, illegal at c - 1.
#include "simulator/check/Check.h"
#include "simulator/check/Rules.h"
#include "tests/simulator/check/TinyProgram.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>

namespace orrery::check {
namespace {

using Rules = std::set<std::string>;
using test::TinyProgram;

constexpr Tick kForever = 100000;

/// A table in slice 0 and temporaries in slices 10 and 20, all of 64 vectors.
TinyProgram threeSlices() {
  TinyProgram t;
  t.region(RegionKind::Table, 0, 1, 0, 0, 64);
  t.region(RegionKind::Temporary, 10, 1, 0, 0, 64, 0, kForever);
  t.region(RegionKind::Temporary, 20, 1, 0, 0, 64, 0, kForever);
  return t;
}

TEST(CheckTest, FiguresAddUp) {
  TinyProgram t = threeSlices();
  t.copy(0, 0, 0, 10, 0, 0, 3, 100, 8);
  Report report = t.check();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.instructions, 2u);
  EXPECT_EQ(report.vectorsDriven, 8u);
  EXPECT_EQ(report.operandsProven, 8u);
  EXPECT_EQ(report.endTick, 107 + t.machine.timing.write);
  const CapacityFigures &s = report.sram;
  EXPECT_EQ(s.bytesOfKind[size_t(RegionKind::Table)], 64 * 64);
  EXPECT_EQ(s.bytesOfKind[size_t(RegionKind::Temporary)], 2 * 64 * 64);
  EXPECT_EQ(s.used, (1024 + 3 * 64) * 64);
  EXPECT_EQ(s.used + s.free, t.machine.sramBytes());
}

TEST(CheckTest, OverlappingTemporariesCountOnce) {
  TinyProgram t = threeSlices();
  t.p.regions.back().born = 200;
  t.region(RegionKind::Temporary, 20, 1, 0, 32, 64, 0, 200);
  EXPECT_EQ(t.check().sram.bytesOfKind[size_t(RegionKind::Temporary)],
            (64 + 96) * 64);
  EXPECT_EQ(t.broken(), Rules{});
  t.p.regions.back().dies = 201;
  EXPECT_EQ(t.broken(), Rules{"overlap"});
}

TEST(CheckTest, MessageNamesBothEnds) {
  TinyProgram t = threeSlices();
  t.copy(0, 0, 0, 10, 0, 0, 3, 100);
  t.p.instructions[1].tick += 1;
  Report report = t.check();
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.violations[0].message,
            "operand: MEM slice 10 write port: instruction 1 write (here) due "
            "at tick 101: operand 0 vector 0 is not on eastward stream 3 at "
            "position 13; the nearest is instruction 0 read (here), 1 ticks "
            "early, on positions 4-13");
}

TEST(CheckTest, OperandMeetsItsDiagonal) {
  for (Tick off : {-1, 0, 1}) {
    TinyProgram t = threeSlices();
    t.copy(0, 0, 0, 10, 0, 0, 3, 100, 4);
    t.p.instructions[1].tick += off;
    EXPECT_EQ(t.broken().contains("operand") || t.broken().contains("dropped"),
              off != 0);
  }
}

TEST(CheckTest, StopIsTheLastConsumer) {
  TinyProgram t = threeSlices();
  t.copy(0, 0, 0, 10, 0, 0, 3, 100);
  auto move = [&](int by) {
    std::get<ReadOp>(t.p.instructions[0].operation).out.stop += by;
  };
  move(1);
  EXPECT_EQ(t.broken(), Rules{"stop"});
  move(-2);
  EXPECT_EQ(t.broken(), (Rules{"operand", "dropped"}));
}

TEST(CheckTest, StreamsConflictOnSharedPositionsOnly) {
  auto build = [](int from, int to) {
    TinyProgram t = threeSlices();
    t.region(RegionKind::Table, from, 1, 1, 0, 8);
    t.region(RegionKind::Temporary, to, 1, 1, 0, 8, 0, kForever);
    t.copy(0, 0, 0, 10, 0, 0, 3, 100, 4);
    // On the same diagonals.
    Tick tick = 100 + t.g.ofSlice(to) - t.g.ofSlice(10);
    t.copy(from, 1, 0, to, 1, 0, 3, tick + 2, 4);
    return t.broken();
  };
  EXPECT_EQ(build(10, 20), Rules{});
  EXPECT_TRUE(build(9, 20).contains("conflict"));
}

TEST(CheckTest, StridesInterleave) {
  for (Tick off : {1, 2}) {
    TinyProgram t = threeSlices();
    t.region(RegionKind::Table, 1, 1, 0, 0, 64);
    for (int k = 0; k < 2; ++k) {
      BurstShape shape{8, 2};
      Tick tick = 100 + k * off;
      int to = k == 0 ? 10 : 20;
      Tick at = tick + t.g.ofSlice(to) - t.g.ofSlice(10);
      t.feed(k, 1, 0, 0, 3, t.g.ofSlice(to), at, shape);
      t.store(to, 1, 0, 0, {Direction::East, 3}, at, shape);
    }
    EXPECT_EQ(t.broken().contains("conflict"), off == 2);
  }
}

TEST(CheckTest, ReadWaitsForTheWrite) {
  for (Tick early : {0, 1}) {
    TinyProgram t = threeSlices();
    t.copy(0, 0, 0, 10, 0, 0, 3, 100, 4);
    // Issues at slice 10 `write` ticks after the write.
    Tick issue = 100 + t.machine.timing.write - early;
    Tick way = t.machine.timing.read + t.g.ofSlice(20) - t.g.ofSlice(10);
    t.copy(10, 0, 0, 20, 0, 0, 4, issue + way, 4);
    Rules rules = t.broken();
    EXPECT_EQ(rules.contains("hazard"), early == 1);
    // Writing and reading in one cycle need two banks.
    EXPECT_EQ(rules.contains("bank"), true);
  }
}

TEST(CheckTest, ReadBeforeTheWriteIsUninitialised) {
  TinyProgram t = threeSlices();
  t.copy(0, 0, 0, 10, 0, 0, 3, 100);
  t.copy(10, 0, 0, 20, 0, 0, 4, 60);
  EXPECT_EQ(t.broken(), Rules{"uninitialised"});
}

/// Lanes that the step defines later may not be read before; lanes that it
/// never defines are padding.
TEST(CheckTest, LanesAreDefinedBeforeTheyAreRead) {
  auto build = [](Tick second, uint16_t high) {
    TinyProgram t = threeSlices();
    auto part = [&](Tick tick, uint16_t low, uint16_t end) {
      t.copy(0, 0, 0, 10, 0, 0, 3, tick);
      auto &w = std::get<WriteOp>(t.p.instructions.back().operation);
      w.mask = LaneMask::Range;
      w.low = low;
      w.high = end;
    };
    part(100, 0, 32);
    part(second, 32, high);
    t.copy(10, 0, 0, 20, 0, 0, 4, 160);
    return t.broken();
  };
  EXPECT_EQ(build(110, 64), Rules{});
  EXPECT_EQ(build(110, 40), Rules{});
  EXPECT_EQ(build(200, 64), Rules{"uninitialised"});
}

TEST(CheckTest, LifetimesHoldInEverySlice) {
  for (Tick late : {0, 1}) {
    TinyProgram t;
    t.region(RegionKind::Table, 30, 2, 0, 0, 8);
    // Westward, slice 11 takes its vector a tick before slice 10.
    t.region(RegionKind::Temporary, 10, 2, 0, 0, 8, 99 + late, kForever);
    t.feed(30, 2, 0, 0, 3, t.g.ofSlice(10), 100, {1});
    t.store(10, 2, 0, 0, {Direction::West, 3}, 100, {1});
    EXPECT_EQ(t.broken(), late ? Rules{"lifetime"} : Rules{});
  }
}

TEST(CheckTest, PortsAndQueues) {
  auto build = [](Tick second, BurstShape shape) {
    TinyProgram t = threeSlices();
    for (int k = 0; k < 2; ++k) {
      Tick tick = k == 0 ? 100 : second;
      t.feed(0, 1, 0, 8 * k, 3 + k, t.g.ofSlice(k == 0 ? 10 : 20),
             tick + (k == 0 ? 0 : 10), shape);
      t.store(k == 0 ? 10 : 20, 1, 0, 0, {Direction::East, uint8_t(3 + k)},
              tick + (k == 0 ? 0 : 10), shape);
    }
    return t.broken();
  };
  EXPECT_EQ(build(108, {8, 1}), Rules{});
  EXPECT_EQ(build(107, {8, 1}), Rules{"port"});
  EXPECT_EQ(build(101, {8, 2}), Rules{"queue"});
  EXPECT_EQ(build(115, {8, 2}), Rules{});
}

TEST(CheckTest, ReadAndWriteNeedTwoBanks) {
  for (int bank : {0, 1}) {
    TinyProgram t = threeSlices();
    t.region(RegionKind::Table, 10, 1, 1, 0, 64);
    t.copy(0, 0, 0, 10, 0, 0, 3, 100, 8);
    // Slice 10 issues at tick 103.
    Tick way = t.machine.timing.read + t.g.ofSlice(20) - t.g.ofSlice(10);
    t.copy(10, bank, 20, 20, 0, 0, 4, 103 + way, 2);
    EXPECT_EQ(t.broken().contains("bank"), bank == 0);
  }
}

TEST(CheckTest, AddressesStayInRegionsOfTheirKind) {
  TinyProgram t = threeSlices();
  t.copy(0, 0, 57, 10, 0, 0, 3, 100, 8);
  EXPECT_EQ(t.broken(), Rules{"address"});
  t = threeSlices();
  t.p.regions[2].kind = RegionKind::Weight;
  t.p.regions[2].dies = 0;
  t.copy(0, 0, 0, 10, 0, 0, 3, 100, 8);
  EXPECT_EQ(t.broken(), Rules{"kind"});
}

/// POS may be anything up to bucket - 1, whatever the tokens.
TEST(CheckTest, DynamicAddressesStayInRange) {
  for (uint32_t bucket : {57u, 58u}) {
    TinyProgram t = threeSlices();
    t.p.tokens = 8;
    t.p.bucket = t.p.context = bucket;
    t.copy(0, 0, 0, 10, 0, 0, 3, 100, 8);
    auto &read = std::get<ReadOp>(t.p.instructions[0].operation);
    read.address.dynamic = Dynamic::Position;
    read.address.dynamicStep = 1;
    EXPECT_EQ(t.broken(), bucket == 58 ? Rules{"address"} : Rules{});
  }
}

/// A KV append over two chunks of 64 positions in four slices, then a read.
TinyProgram appendAndRead(Tick readTick) {
  TinyProgram t = threeSlices();
  t.p.bucket = 64;
  t.p.context = 128;
  t.region(RegionKind::Kv, 12, 4, 0, 0, 32);
  Tick tick = 100;
  t.feed(0, 1, 0, 0, 3, t.g.ofSlice(15), tick + 3, {1});
  WriteOp &w = t.store(12, 4, 0, 0, {Direction::East, 3}, tick, {1});
  w.stripeBytes = 1;
  w.stripeStep = 16;
  Tick way = t.machine.timing.read + t.g.ofSlice(20) - t.g.ofSlice(12);
  t.copy(12, 0, 15, 20, 0, 0, 4, readTick + way);
  return t;
}

TEST(CheckTest, CacheIsReadAfterTheAppend) {
  Tick ready = 100 + loadMachine("lpu-small")->timing.write;
  EXPECT_EQ(appendAndRead(ready).broken(), Rules{});
  EXPECT_EQ(appendAndRead(ready - 1).broken(), Rules{"stale"});
  EXPECT_EQ(appendAndRead(50).broken(), Rules{"stale"});
}

TEST(CheckTest, ContextHasRoom) {
  TinyProgram t = appendAndRead(200);
  t.p.context = 129;
  EXPECT_EQ(t.broken(), Rules{"context"});
}

/// One A8 row, `tiles` I8 tiles of 4 rows over 4 streams, on plane 0.
struct TinyMatmul {
  TinyProgram t;
  size_t load = 0, matmul = 0;

  TinyMatmul(Tick loadAt, Tick installAt, uint32_t installPeriod, Tick at,
             uint32_t period, uint32_t tiles) {
    t.region(RegionKind::Table, 0, 2, 0, 0, 8);
    t.region(RegionKind::Weight, 4, 4, 0, 0, 8);
    t.region(RegionKind::Temporary, 10, 4, 0, 0, 8, 0, kForever);
    t.feed(0, 2, 0, 0, 0, 0, loadAt, {1});
    load = t.p.instructions.size();
    t.add(loadAt, LoadOp{0, false, 0, 0, {1}});
    BurstShape shape{1, 1, tiles, installPeriod};
    t.feed(4, 4, 0, 0, 4, 0, installAt, shape);
    t.add(installAt, InstallOp{0, WeightFormat::I8, 4, 4, 0, 4, shape});
    MatmulOp op;
    op.format = WeightFormat::I8;
    op.high = 4;
    op.tiles = tiles;
    op.period = period;
    op.stop = t.g.ofSlice(13);
    matmul = t.p.instructions.size();
    t.add(at, op);
    Tick out = at + t.machine.timing.matmul + t.g.ofSlice(10);
    t.store(10, 4, 0, 0, {Direction::East, 0}, out, {tiles, period});
  }
};

TEST(CheckTest, EntriesAndTilesAreReady) {
  TimingParameters timing = loadMachine("lpu-small")->timing;
  Tick at = 200, load = at - timing.load, install = at - timing.install;
  EXPECT_EQ(TinyMatmul(load, install, 1, at, 1, 1).t.broken(), Rules{});
  EXPECT_EQ(TinyMatmul(load + 1, install, 1, at, 1, 1).t.broken(),
            Rules{"activation"});
  EXPECT_EQ(TinyMatmul(load, install + 1, 1, at, 1, 1).t.broken(),
            Rules{"tile"});
}

/// The third tile needs the buffer of the first, which is held in its cycle.
TEST(CheckTest, TwoBuffers) {
  Tick at = 200;
  auto broken = [&](Tick third) {
    return TinyMatmul(150, third - 20, 10, at, 20, 3).t.broken();
  };
  EXPECT_EQ(broken(at + 1), Rules{});
  EXPECT_EQ(broken(at), Rules{"buffer"});
}

TEST(CheckTest, EveryTileIsUsed) {
  TinyMatmul m(150, 150, 10, 200, 20, 2);
  auto &op = std::get<MatmulOp>(m.t.p.instructions[m.matmul].operation);
  op.tiles = 1;
  auto &store = std::get<WriteOp>(m.t.p.instructions.back().operation);
  store.shape = {1};
  store.address = TinyProgram::linear(0, 1);
  EXPECT_EQ(m.t.broken(), Rules{"tile"});
}

TEST(CheckTest, EntriesAreNotOverwrittenWhileInUse) {
  for (Tick again : {220, 221}) {
    TinyMatmul m(150, 150, 10, 200, 20, 2); // uses entry 0 at 200 and 220
    m.t.feed(0, 2, 0, 0, 0, 0, again, {1});
    m.t.add(again, LoadOp{0, false, 0, 0, {1}});
    Report report = m.t.check();
    size_t unused = 1; // nobody uses what the second load brings
    EXPECT_EQ(report.violations.size(), unused + (again == 220));
  }
}

TEST(CheckTest, F16TakesBothPlanes) {
  for (WeightFormat f : {WeightFormat::I8, WeightFormat::F16}) {
    TinyMatmul m(150, 150, 1, 200, 1, 1);
    InstallOp other{1, f, 20, 4, 0, 4, {1}};
    if (f == WeightFormat::F16) {
      other.plane = 0;
      std::get<InstallOp>(m.t.p.instructions[3].operation).plane = 1;
    }
    m.t.add(150, other);
    EXPECT_EQ(m.t.broken().contains("port"), f == WeightFormat::F16);
  }
}

TEST(CheckTest, ValuesAreTakenWhole) {
  auto build = [](int type, int first) {
    TinyProgram t;
    t.region(RegionKind::Table, 0, 4, 0, 0, 8);
    t.region(RegionKind::Temporary, 40, 4, 0, 0, 8, 0, kForever);
    t.p.vectorPrograms.push_back(
        {{StreamType::F32}, {}, {{0, StreamType(type)}}, 1});
    t.p.vectorPrograms.push_back(
        {{StreamType::F16}, {}, {{0, StreamType::F32}}, 1});
    VectorOp v;
    v.inputs = v.outputs = 1;
    v.in[0] = {Direction::East, 0};
    v.out[0] = {{Direction::East, 8}, t.g.ofSxm(1)};
    t.feed(0, 4, 0, 0, 0, t.g.ofVxm(), 100, {1});
    t.add(100, v);
    // Two of its streams turn as if they were one value.
    Tick at = 100 + t.machine.timing.alu + t.g.ofSxm(1) - t.g.ofVxm();
    PermuteOp x;
    x.sxm = 1;
    x.kind = PermuteKind::Transpose;
    x.width = 2;
    x.outWidth = 1;
    x.rows = 1;
    x.in = {Direction::East, uint8_t(8 + first)};
    x.out = {{Direction::West, 0}, t.g.ofSlice(40)};
    t.add(at, x);
    return t.broken();
  };
  EXPECT_FALSE(build(int(StreamType::F16), 0).contains("type"));
  EXPECT_TRUE(build(int(StreamType::F32), 0).contains("type"));
  EXPECT_TRUE(build(int(StreamType::F32), 1).contains("type"));
}

TEST(CheckTest, HostLink) {
  auto build = [](Tick off, uint32_t stride, uint32_t vectors) {
    TinyProgram t;
    t.p.inputVectors = vectors;
    t.region(RegionKind::Temporary, 40, 4, 0, 0, 8, 0, kForever);
    Tick tick = t.machine.timing.host + off;
    BurstShape shape{2, uint32_t(t.machine.timing.hostVector) - 1 + stride};
    t.add(tick, ReceiveOp{0, t.g.ofSlice(40), shape});
    t.store(40, 4, 0, 0, {Direction::West, 0},
            tick + t.g.ofHost() - t.g.ofSlice(40), shape);
    return t.broken();
  };
  EXPECT_EQ(build(0, 1, 2), Rules{});
  EXPECT_EQ(build(-1, 1, 2), Rules{"host"});
  EXPECT_EQ(build(0, 0, 2), Rules{"host"});
  EXPECT_EQ(build(0, 1, 3), Rules{"host"});
}

TEST(CheckTest, LogitsAreWritten) {
  TinyProgram t = threeSlices();
  t.region(RegionKind::Temporary, 40, 4, 0, 0, 8, 0, kForever);
  t.region(RegionKind::Table, 0, 4, 1, 0, 8);
  t.feed(0, 4, 1, 0, 0, t.g.ofSlice(43), 100, {2});
  t.store(40, 4, 0, 0, {Direction::East, 0}, 97, {2});
  t.p.logits = {40, 0, 0, 2, 100};
  EXPECT_EQ(t.broken(), Rules{});
  t.p.logits.vectors = 3;
  EXPECT_EQ(t.broken(), Rules{"logits"});
  t.p.logits.slice = 41;
  EXPECT_EQ(t.broken(), Rules{"logits"});
}

TEST(CheckTest, TextHasRoom) {
  TinyProgram t = threeSlices();
  t.copy(0, 0, 0, 10, 0, 0, 3, 100);
  auto vectors = uint32_t((t.check().sram.programBytes + 63) / 64);
  t.p.regions[0].length = vectors;
  EXPECT_EQ(t.broken(), Rules{});
  t.p.regions[0].length = vectors - 1;
  EXPECT_TRUE(t.broken().contains("capacity"));
  t.p.regions[0] = {"big", RegionKind::Instructions, 55, 1, 1, 4000, 97};
  EXPECT_TRUE(t.broken().contains("capacity"));
}

TEST(CheckTest, ViolationsAreCappedNotLost) {
  TinyProgram t;
  for (int i = 0; i < 1000; ++i) {
    t.add(i, SendOp{0, {1}});
  }
  Report report = t.check();
  EXPECT_EQ(report.violations.size(), kMaxViolations);
  EXPECT_GT(report.violationsNotKept, 700u);
}

/// Bursts of 64 k vectors cost no more than short ones, and time grows about
/// linearly with instructions.
TEST(CheckTest, ScalesWithInstructions) {
  auto seconds = [](int pairs, uint32_t count) {
    TinyProgram t;
    t.region(RegionKind::Weight, 0, 16, 0, 0, 4096);
    t.p.regions.back().length = 4096;
    Tick tick = 200;
    for (int i = 0; i < pairs; ++i) {
      BurstShape shape{count, 1};
      t.feed(0, 16, 0, 0, 0, t.g.ofPlane(0), tick, shape);
      auto &a = std::get<ReadOp>(t.p.instructions.back().operation).address;
      a.extent = {4, count / 4, 1};
      a.step = {1, 0, 0};
      t.add(tick, InstallOp{0, WeightFormat::I8, 0, 16, 0, 64, shape});
      tick += count;
    }
    test::sortByTick(t.p.instructions);
    auto start = std::chrono::steady_clock::now();
    checkProgram(t.p, t.machine);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  seconds(100, 4);
  double small = seconds(2000, 4), longBursts = seconds(2000, 65536),
         many = seconds(20000, 4);
  std::cout << "4,000 instructions " << small << " s, with bursts of 65,536 "
            << longBursts << " s; 40,000 instructions " << many << " s\n";
  EXPECT_LT(longBursts, 5 * small + 0.1);
  EXPECT_LT(many, 30 * small + 0.1);
}

TEST(CheckTest, ReadmeNamesEveryRule) {
  std::ifstream file(std::string(ORRERY_SOURCE_DIR) +
                     "/simulator/check/README.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const char *rule : kRuleNames) {
    EXPECT_NE(text.str().find("| `" + std::string(rule) + "` |"),
              std::string::npos)
        << rule;
  }
}

} // namespace
} // namespace orrery::check
