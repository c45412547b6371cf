// Shapes on which something once went wrong, each named after it.
#include "compiler/schedule/PlaceText.h"
#include "tests/conformance/CaseRun.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace orrery::test {
namespace {

/// A case without any chance in it, for a test to change.
RandomCase plainCase() {
  RandomCase c;
  c.seed = 1;
  c.machine = *loadMachine("lpu-small");
  c.model.name = "regression";
  c.model.architecture = "llama";
  c.model.layers = 1;
  c.model.hidden = 64;
  c.model.heads = c.model.kvHeads = 2;
  c.model.headDim = c.model.ropeDimension = 32;
  c.model.intermediate = 64;
  c.model.vocab = 71;
  c.model.contextLength = c.options.context = 40;
  c.model.normEps = 1e-5f;
  c.options.chunk = 4;
  c.reads = {{3, 1, 4, 1, 5, 9, 2}, {6}};
  return c;
}

void expectHolds(const RandomCase &c) {
  CaseOutcome outcome = runCase(c);
  EXPECT_EQ(outcome.refusal, "") << c.text();
  EXPECT_EQ(outcome.failure, "") << c.text();
  EXPECT_GT(outcome.logits, 0);
}

// The host sent q8_0 rows whatever format the model's table had.
TEST(RegressionTest, EmbeddingInItsOwnFormat) {
  using llm::WeightFormat;
  for (bool tied : {false, true}) {
    for (auto table :
         {WeightFormat::F16, WeightFormat::Q4_0, WeightFormat::Q8_0}) {
      for (auto others : {WeightFormat::F16, WeightFormat::Q4_0}) {
        RandomCase c = plainCase();
        c.model.tiedEmbeddings = tied;
        c.options.weights = others;
        c.options.tensorFormats["token_embd.weight"] = table;
        expectHolds(c);
      }
    }
  }
}

// Chunks longer than the whole context were asked of the compiler.
TEST(RegressionTest, ContextShorterThanAChunk) {
  for (int64_t context : {1, 2, 5, 8}) {
    RandomCase c = plainCase();
    c.model.contextLength = c.options.context = context;
    c.options.chunk = 20;
    c.reads = {std::vector<int32_t>(size_t(context), 3)};
    expectHolds(c);
  }
}

// A head that begins in one vector and ends in the next left elements of its
// first part in the lanes behind its last: they spoiled that block's scale.
TEST(RegressionTest, HeadsAcrossVectors) {
  for (int32_t lanes : {32, 64, 96}) {
    for (int64_t dim : {8, 24, 40, 56, 72, 88}) {
      RandomCase c = plainCase();
      c.machine.lanes = lanes;
      if ((dim + 31) / 32 * 32 > lanes) {
        continue;
      }
      c.model.kvHeads = 1;
      c.model.heads = 3;
      c.model.headDim = c.model.ropeDimension = dim;
      expectHolds(c);
    }
  }
}

// The attention's result is asked for before its operands and written after
// them; on addresses that one of them had, it did not wait for the last read.
TEST(RegressionTest, ResultsOnAddressesOfLaterRequests) {
  for (int32_t depth : {1024, 2048}) {
    RandomCase c = plainCase();
    c.machine.alusPerLane = 1;
    c.machine.lanes = 96;
    c.machine.streamsPerDirection = 64;
    c.machine.sram.slicesPerHemisphere = 30;
    c.machine.sram.vectorsPerBank = depth;
    c.machine.matrix.planesPerHemisphere = 3;
    c.machine.matrix.installStreams = 12;
    c.model.hidden = 334;
    c.model.heads = 64;
    c.model.kvHeads = 8;
    c.model.headDim = c.model.ropeDimension = 64;
    c.model.intermediate = 31;
    c.model.contextLength = c.options.context = 118;
    c.options.kv = llm::KvFormat::F16;
    c.reads = {std::vector<int32_t>(100, 5)};
    CaseOutcome outcome = runCase(c);
    EXPECT_EQ(outcome.failure, "") << c.text();
  }
}

bool meet(const SramRegion &a, const SramRegion &b) {
  return a.bank == b.bank && a.slice < b.slice + b.width &&
         b.slice < a.slice + a.width && a.base < b.base + b.length &&
         b.base < a.base + a.length;
}

// Text that found no room in weight slices stood right above its own program's
// temporaries, where another program of the set had its own.
TEST(RegressionTest, TextKeepsOffTemporariesOfOtherPrograms) {
  Machine machine = *loadMachine("lpu-small");
  ChipLayout layout(machine);
  auto slices = uint16_t(machine.geometry().slices());
  auto depth = uint32_t(machine.sram.vectorsPerBank);
  auto programOf = [&](uint32_t temporaries) {
    Program p{};
    for (uint8_t bank : {0, 1}) {
      for (int32_t s = 0; s < slices; ++s) {
        int32_t first = layout.dataFirst(layout.sideOfSlice(s));
        bool data = s >= first && s < first + layout.dataSlices;
        p.regions.push_back({"w", RegionKind::Weight, uint16_t(s), 1, bank, 0,
                             data ? 100 : depth});
        if (data) {
          p.regions.push_back({"t", RegionKind::Temporary, uint16_t(s), 1, bank,
                               100, temporaries});
        }
      }
    }
    return p;
  };
  Program small = programOf(10), large = programOf(2000);
  int64_t chunks = 2500;
  for (Program *p : {&small, &large}) {
    int64_t taken = p == &small ? 0 : chunks * machine.fetchVectors;
    auto room = schedule::textRoom(*p, machine, taken, chunks);
    ASSERT_TRUE(room) << room.error().message;
    schedule::addTextRegions(*p, machine, *room);
  }
  for (const SramRegion &a : small.regions) {
    for (const SramRegion &b : large.regions) {
      bool text = a.kind == RegionKind::Instructions ||
                  b.kind == RegionKind::Instructions;
      EXPECT_FALSE(text && meet(a, b)) << a.name << " and " << b.name;
    }
  }
}

} // namespace
} // namespace orrery::test
