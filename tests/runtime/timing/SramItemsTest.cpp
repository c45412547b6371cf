#include "runtime/timing/SramItems.h"

#include "compiler/lower/ChipLayout.h"
#include "runtime/timing/MatrixWork.h"
#include "simulator/SystemSimulator.h"
#include "tests/runtime/timing/Shapes.h"

#include <numeric>

namespace orrery::runtime {
namespace {

SramItems itemsOf(const Program &program) {
  const Program *one[] = {&program};
  return sramItems(*loadMachine("lpu-small"), one);
}

TEST(SramItems, PiecesOfATensorAreOneItem) {
  ChipLayout layout(*loadMachine("lpu-small"));
  auto data = uint16_t(layout.dataFirst(0));
  Program program;
  program.locations = {"layer 0 ffn_up", "layer 0 attention"};
  program.regions = {
      {"blk.0.ffn_up.weight[0,0]", RegionKind::Weight, 0, 8, 0, 0, 10},
      {"blk.0.ffn_up.weight[0,64]", RegionKind::Weight, 8, 8, 0, 0, 10},
      {"kv.0.k.0", RegionKind::Kv, data, 4, 1, 0, 20},
      {"kv.0.k.1", RegionKind::Kv, data, 4, 1, 20, 20},
      {"kv.0.k_scale", RegionKind::Kv, data, 1, 1, 40, 5},
      {"instructions.0.0", RegionKind::Instructions, 0, 1, 1, 0, 7},
      {"tmp.0", RegionKind::Temporary, data, 4, 0, 0, 3, 100, 300},
      {"tmp.1", RegionKind::Temporary, uint16_t(data + 4), 4, 0, 0, 2, 200,
       400},
      {"tmp.2", RegionKind::Temporary, data, 4, 0, 0, 3, 350, 500}};
  auto write = [&](Tick tick, uint32_t location, uint16_t slice) {
    WriteOp op;
    op.slice = slice;
    op.width = 4;
    program.instructions.push_back({tick, location, op});
  };
  write(100, 0, data);
  write(200, 1, uint16_t(data + 4));
  write(350, 1, data);
  SramItems items = itemsOf(program);
  ASSERT_EQ(items.lasting.size(), 4u);
  EXPECT_EQ(items.lasting[0].name, "blk.0.ffn_up.weight");
  EXPECT_EQ(items.lasting[0].bytes, 2 * 8 * 10 * 64);
  EXPECT_EQ(items.lasting[1].name, "kv.0.k");
  EXPECT_EQ(items.lasting[1].bytes, 2 * 4 * 20 * 64);
  EXPECT_EQ(items.lasting[2].name, "program text");
  EXPECT_EQ(items.lasting[3].name, "kv.0.k_scale");
  // tmp.0 and tmp.2 share addresses; tmp.0 and tmp.1 live together.
  EXPECT_EQ(items.temporaryBytes, 4 * (3 + 2) * 64);
  EXPECT_EQ(items.liveBytes, 4 * (3 + 2) * 64);
  EXPECT_EQ(items.liveTick, 200);
  ASSERT_EQ(items.live.size(), 2u);
  EXPECT_EQ(items.live[0].op, "layer 0 ffn_up");
  EXPECT_EQ(items.live[0].bytes, 4 * 3 * 64);
  EXPECT_EQ(items.live[1].op, "layer 0 attention");
  EXPECT_EQ(items.used(true, RegionKind::Kv), (2 * 4 * 20 + 5) * 64);
  EXPECT_EQ(items.used(false, RegionKind::Weight), 2 * 8 * 10 * 64);
}

TEST(SramItems, BanksAddUpToTheChip) {
  for (SplitOptions split : {SplitOptions{1, 1}, {2, 2}}) {
    auto set = setOf("tinystories-656k", "lpu-small-node", split);
    const CompiledStep &step = stepOf(*set, 1, 512);
    stepOf(*set, 3, 64);
    SystemSram sram = systemSram(set->machine(), set->programs());
    for (size_t part = 0; part < step.parts.size(); ++part) {
      std::vector<const Program *> programs;
      for (const SystemProgram *program : set->programs()) {
        programs.push_back(&program->parts[part]);
      }
      SramItems items = sramItems(set->machine(), programs);
      Bytes capacity = 0;
      for (const BankUse &bank : items.banks) {
        EXPECT_EQ(bank.capacity(), bank.slices * set->machine().bankBytes());
        capacity += bank.capacity();
      }
      const SramUse &use = sram.parts[part];
      EXPECT_EQ(capacity, use.capacity);
      EXPECT_EQ(items.free(false) + items.free(true), use.free);
      Bytes lasting = 0;
      for (const SramItem &item : items.lasting) {
        lasting += item.bytes;
      }
      for (RegionKind kind : {RegionKind::Weight, RegionKind::Table,
                              RegionKind::Kv, RegionKind::Instructions}) {
        EXPECT_EQ(items.used(false, kind) + items.used(true, kind),
                  use.bytes[size_t(kind)]);
        lasting -= use.bytes[size_t(kind)];
      }
      EXPECT_EQ(lasting, 0);
      EXPECT_EQ(items.temporaryBytes, use.bytes[size_t(RegionKind::Temporary)]);
      EXPECT_EQ(items.used(false, RegionKind::Kv), 0);
      EXPECT_GT(items.liveBytes, 0);
      EXPECT_LE(items.liveBytes, items.temporaryBytes);
      Bytes live = 0;
      for (const LiveItem &item : items.live) {
        EXPECT_NE(item.op, "?");
        live += item.bytes;
      }
      EXPECT_EQ(live, items.liveBytes);
    }
  }
}

TEST(SramItems, CachesByBytes) {
  SramItems items;
  items.banks = {{false, 0, 1, {0, 0, 7, 0, 0}, 1000},
                 {true, 0, 1, {0, 0, 30, 0, 0}, 50},
                 {true, 1, 1, {0, 0, 10, 0, 0}, 69}};
  EXPECT_EQ(cachesByBytes(items), 1 + 119 / 40);
  items.banks[1].bytes = items.banks[2].bytes = {};
  EXPECT_EQ(cachesByBytes(items), -1);
}

TEST(MatrixWork, ChargedIsWhatTheSimulatorCounts) {
  for (SplitOptions split : {SplitOptions{1, 1}, {2, 2}, {4, 1}}) {
    auto set = setOf("tinystories-656k", "lpu-small-node", split);
    const CompiledStep &step = stepOf(*set, 3, 100);
    sim::SystemSimulator simulator(set->machine());
    auto result = simulator.run(step.system, {});
    ASSERT_TRUE(result) << result.error().message;
    int64_t counted = 0;
    for (const sim::ChipStep &chip : result->simulated) {
      const sim::Counters &c = chip.result.counters;
      counted += int64_t(chip.alike * (c.int8Macs + c.f16Macs));
    }
    EXPECT_EQ(matrixWork(step, set->machine(), set->config(), 128).charged,
              counted);
  }
}

// facts/known-answers.md: stories15M, 1/16 of its attention at 4096 positions.
TEST(MatrixWork, UsefulIsTheModels) {
  auto set = setOf("stories15m", "lpu-v1-node", {2, 1}, 256);
  const CompiledStep &step = stepOf(*set, 1, 256);
  MatrixWork work = matrixWork(step, set->machine(), set->config(), 256);
  EXPECT_EQ(work.useful, 15187968 + 14155776 / 16);
  EXPECT_GT(work.charged, work.useful);
}

} // namespace
} // namespace orrery::runtime
