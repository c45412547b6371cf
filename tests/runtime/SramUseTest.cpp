#include "runtime/SramUse.h"
#include "runtime/NominalBytes.h"

#include <gtest/gtest.h>

namespace orrery::runtime {
namespace {

Program programOf(std::vector<SramRegion> regions, uint32_t tokens = 1) {
  Program program;
  program.tokens = tokens;
  program.bucket = 64;
  program.regions = std::move(regions);
  return program;
}

SramRegion region(const char *name, RegionKind kind, uint16_t slice,
                  uint32_t base, uint32_t length) {
  return {name, kind, slice, 2, 0, base, length};
}

SramUse useOf(const std::vector<Program> &programs) {
  std::vector<const Program *> pointers;
  for (const Program &p : programs) {
    pointers.push_back(&p);
  }
  return sramUse(*loadMachine("lpu-small"), pointers);
}

TEST(SramUse, WhatLastsCountsOnceAndTemporariesShare) {
  auto weights = region("w", RegionKind::Weight, 0, 0, 10);
  auto kv = region("kv", RegionKind::Kv, 2, 0, 20);
  SramUse use = useOf(
      {programOf({weights, kv, region("a", RegionKind::Temporary, 4, 0, 5),
                  region("b", RegionKind::Temporary, 4, 3, 5),
                  region("text", RegionKind::Instructions, 0, 10, 4)}),
       programOf({weights, kv, region("c", RegionKind::Temporary, 4, 6, 10),
                  region("text", RegionKind::Instructions, 0, 14, 4)},
                 8)});
  EXPECT_EQ(use.bytes[size_t(RegionKind::Weight)], 2 * 10 * 64);
  EXPECT_EQ(use.bytes[size_t(RegionKind::Kv)], 2 * 20 * 64);
  EXPECT_EQ(use.bytes[size_t(RegionKind::Temporary)], 2 * 16 * 64);
  EXPECT_EQ(use.bytes[size_t(RegionKind::Instructions)], 2 * 8 * 64);
  EXPECT_EQ(use.free, use.capacity - 2 * 54 * 64);
  EXPECT_TRUE(use.addsUp()) << use.conflict;
}

TEST(SramUse, TextUnderAnotherProgramsTemporaryIsAConflict) {
  SramUse use =
      useOf({programOf({region("text", RegionKind::Instructions, 4, 2, 4)}),
             programOf({region("t", RegionKind::Temporary, 4, 5, 1)}, 8)});
  EXPECT_FALSE(use.addsUp());
  EXPECT_EQ(use.conflict, "text of T=1 bucket=64 and temporaries share slice 4 "
                          "bank 0 address 5");
}

TEST(SramUse, TwoProgramsTextsAreAConflict) {
  auto text = region("text", RegionKind::Instructions, 4, 2, 4);
  EXPECT_FALSE(useOf({programOf({text}), programOf({text}, 8)}).addsUp());
}

TEST(SramUse, AMovedWeightIsAConflict) {
  SramUse use = useOf({programOf({region("w", RegionKind::Weight, 0, 0, 10)}),
                       programOf({region("w", RegionKind::Weight, 0, 1, 10)})});
  EXPECT_EQ(use.conflict, "w and w share slice 0 bank 0 address 1");
}

TEST(SramUse, TheFullestChipAndAllOfThem) {
  SystemProgram system;
  system.parts = {programOf({region("a", RegionKind::Weight, 0, 0, 10)}),
                  programOf({region("b", RegionKind::Weight, 0, 0, 15),
                             region("kv", RegionKind::Kv, 2, 0, 5)})};
  for (int32_t chip : {0, 1, 2}) {
    uint32_t part = chip > 0 ? 1 : 0;
    system.chips.push_back({chip, part, uint32_t(chip), 0, 0, {}});
  }
  const SystemProgram *set[] = {&system};
  SystemSram sram = systemSram(*loadMachine("lpu-small"), set);
  EXPECT_EQ(sram.fullest, 1u);
  EXPECT_EQ(sram.chip().free, sram.chip().capacity - 2 * 20 * 64);
  EXPECT_EQ(sram.total.bytes[size_t(RegionKind::Weight)],
            2 * (10 + 15 + 15) * 64);
  EXPECT_EQ(sram.total.capacity, 3 * sram.chip().capacity);
  EXPECT_TRUE(sram.addsUp());
  EXPECT_TRUE(sram.total.addsUp());
}

// 2 layers of hidden 64, 4 heads on 2 KV heads of 16, feed-forward 96, 100 ids.
TEST(SramUse, NominalBytesByHand) {
  models::ModelConfig config;
  config.architecture = "llama";
  config.layers = 2;
  config.hidden = 64;
  config.heads = 4;
  config.kvHeads = 2;
  config.headDim = 16;
  config.intermediate = 96;
  config.vocab = 100;
  config.contextLength = 50;
  config.ropeDimension = 16;
  config.tiedEmbeddings = true;
  compiler::ImportOptions options;
  options.weightFormat = llm::WeightFormat::Q8_0;
  options.tensorFormats["blk.0.attn_q.weight"] = llm::WeightFormat::Q4_0;
  options.kvFormat = llm::KvFormat::Q8;
  options.context = 40;
  SramUse use;
  addNominal(use, config, options);
  // Blocks of a layer: q, o 64 x 2; k, v 32 x 2; gate, up 96 x 2; down 64 x 3.
  int64_t layer = 2 * 128 + 2 * 64 + 2 * 192 + 192, output = 200;
  EXPECT_EQ(use.nominal[size_t(RegionKind::Weight)],
            (2 * layer + output) * 34 - 128 * 16);
  EXPECT_EQ(use.nominal[size_t(RegionKind::Kv)], 40 * 2 * 2 * 2 * (16 + 2));
  config.tiedEmbeddings = false; // the output matrix alone is in SRAM
  addNominal(use, config, options);
  EXPECT_EQ(use.nominal[size_t(RegionKind::Weight)],
            (2 * layer + output) * 34 - 128 * 16);
  options.layers = 1;
  addNominal(use, config, options);
  EXPECT_EQ(use.nominal[size_t(RegionKind::Weight)],
            (layer + output) * 34 - 128 * 16);
}

} // namespace
} // namespace orrery::runtime
