// The estimates that splits are chosen by: bytes as lowering lays them out, and
// ticks that every number of the machine moves.
#include "compiler/partition/StageCosts.h"

#include "compiler/partition/ReadShape.h"
#include "tests/compiler/partition/DealLayers.h"

#include "compiler/Compile.h"
#include "compiler/import/ImportModel.h"

#include "gtest/gtest.h"

#include <random>

namespace orrery::partition {
namespace {

models::ModelConfig llama() {
  models::ModelConfig c;
  c.name = "llama";
  c.architecture = "llama";
  c.layers = 4;
  c.hidden = 1024;
  c.heads = 16;
  c.kvHeads = 8;
  c.headDim = 64;
  c.intermediate = 2816;
  c.vocab = 8000;
  c.contextLength = 640;
  c.normEps = 1e-5f;
  c.ropeDimension = 64;
  return c;
}

TEST(StageCosts, ReadsTheShapeOfAnImportedStep) {
  mlir::MLIRContext context;
  for (auto [format, machine] :
       {std::pair(llm::WeightFormat::Q8_0, WeightFormat::Q8),
        {llm::WeightFormat::Q4_0, WeightFormat::Q4},
        {llm::WeightFormat::F16, WeightFormat::F16}}) {
    compiler::ImportOptions options;
    options.weightFormat = format;
    options.context = 512;
    options.kvFormat = llm::KvFormat::F16;
    auto module = compiler::importModel(context, llama(), options);
    auto step = module->lookupSymbol<mlir::func::FuncOp>("step");
    auto layers = findSections(step);
    ASSERT_TRUE(mlir::succeeded(layers));
    auto shape = readShape(step, *layers);
    ASSERT_TRUE(shape) << shape.error().message;
    EXPECT_EQ(*shape, uniformShape(llama(), machine, true, 512));
  }
}

TEST(StageCosts, ReadsTheFormatOfEachMatrix) {
  mlir::MLIRContext context;
  compiler::ImportOptions options;
  options.tokens = 2;
  options.tensorFormats["blk.2.ffn_up.weight"] = llm::WeightFormat::Q4_0;
  auto module = compiler::importModel(context, llama(), options);
  auto step = module->lookupSymbol<mlir::func::FuncOp>("step");
  auto shape = readShape(step, *findSections(step));
  ASSERT_TRUE(shape) << shape.error().message;
  StepShape expected = uniformShape(llama(), WeightFormat::Q8, false, 640);
  expected.tokens = 2;
  expected.layers[2].up.format = WeightFormat::Q4;
  EXPECT_EQ(*shape, expected);
}

/// Bytes of a part's regions of one kind.
Bytes bytesOf(const Program &part, RegionKind kind, const Machine &machine) {
  Bytes out = 0;
  for (const SramRegion &r : part.regions) {
    out += r.kind == kind ? Bytes(r.width) * r.length * machine.lanes : 0;
  }
  return out;
}

// Compiled, for any split of random shapes: what is laid out is what was
// counted; allowances hold at least what a stage of that many layers needs.
TEST(StageCosts, BytesAreThoseOfCompiledStages) {
  auto context = makeContext();
  int compared = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    std::mt19937_64 random(seed);
    auto pick = [&](std::initializer_list<int64_t> values) {
      return values.begin()[random() % values.size()];
    };
    models::ModelConfig config = llama();
    config.hidden = pick({96, 192, 320, 512});
    config.kvHeads = pick({1, 2, 4, 6});
    config.heads = config.kvHeads * pick({1, 2, 4});
    config.headDim = pick({16, 32, 64});
    config.ropeDimension = config.headDim;
    config.intermediate = pick({200, 384, 1000});
    config.vocab = pick({320, 1000, 4096});
    bool four = random() % 2;
    CompileRequest request;
    request.machine = "lpu-small-node";
    request.import.context = 64 * pick({1, 2, 5});
    request.import.weightFormat =
        four ? llm::WeightFormat::Q4_0 : llm::WeightFormat::Q8_0;
    request.split = {pick({1, 2, 3, 4}), pick({1, 2})};
    // More than two a layer: some feed-forward networks are cut in two.
    if (random() % 3 == 0) {
      config.layers = 1;
      request.split = {pick({1, 2}), pick({3, 4})};
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ": tp " +
                 std::to_string(request.split.tensorParallel) + ", pp " +
                 std::to_string(request.split.stages));
    Machine machine = *loadMachine(request.machine);
    StepShape shape =
        uniformShape(config, four ? WeightFormat::Q4 : WeightFormat::Q8, false,
                     request.import.context);
    Deal deal = dealLayers(machine, shape, request.split.tensorParallel,
                           request.split.stages, false);
    auto step = compileStep(*context, config, request);
    ASSERT_TRUE(step) << step.error().message;
    ASSERT_EQ(step->stages.size(), deal.stages.size());
    for (size_t s = 0; s < deal.stages.size(); ++s) {
      const Program &part = step->system.parts[step->stages[s].part];
      const StageBytes &estimate = deal.stages[s].bytes;
      auto real = [&](RegionKind kind) { return bytesOf(part, kind, machine); };
      EXPECT_EQ(step->stages[s].firstLayer, deal.stages[s].first / kSections);
      EXPECT_EQ(estimate.weights, real(RegionKind::Weight));
      EXPECT_EQ(estimate.kv, real(RegionKind::Kv));
      EXPECT_EQ(estimate.tables, real(RegionKind::Table));
      EXPECT_GE(estimate.program, real(RegionKind::Instructions));
      ++compared;
    }
  }
  EXPECT_GT(compared, 24);
}

// As many layers as are said to fit do compile: no split is chosen that the
// allocator then has no room for.
TEST(StageCosts, WhatFitsCompiles) {
  auto context = makeContext();
  CompileRequest request;
  request.machine = "lpu-small-node";
  Machine machine = *loadMachine(request.machine);
  int fitted = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    auto pick = [&](std::initializer_list<int64_t> values) {
      return values.begin()[random() % values.size()];
    };
    models::ModelConfig config = llama();
    config.hidden = pick({384, 512, 608});
    config.kvHeads = pick({1, 4, 8, 16});
    config.heads = config.kvHeads * pick({1, 2});
    config.headDim = config.ropeDimension = pick({32, 64});
    config.intermediate = config.hidden * pick({3, 4});
    config.vocab = pick({1000, 8000, 32000});
    request.import.context = 64 * pick({1, 4, 12});
    request.split = {pick({1, 2}), 1};
    StepShape shape =
        uniformShape(config, WeightFormat::Q8, false, request.import.context);
    shape.layers.resize(60, shape.layers.front());
    auto fits = [&](size_t layers) {
      StepShape part = shape;
      part.layers.resize(layers);
      return dealLayers(machine, part, request.split.tensorParallel, 1, false)
                 .shortage == 0;
    };
    size_t most = 0;
    while (most < shape.layers.size() && fits(most + 1)) {
      ++most;
    }
    if (most == 0) {
      continue;
    }
    config.layers = int64_t(most);
    auto step = compileStep(*context, config, request);
    EXPECT_TRUE(step) << "seed " << seed << ", " << most
                      << " layers: " << step.error().message;
    ++fitted;
  }
  EXPECT_GE(fitted, 10);
}

StageTicks stageTicks(const Machine &machine, int64_t tp, bool ring) {
  StepShape shape = uniformShape(llama(), WeightFormat::Q8, false, 640);
  TickModel model(machine, shape, tp, ring);
  StageTicks out = model.layer(shape.layers[0]);
  out += model.embedding();
  out += model.head(shape.head);
  out += model.betweenStages(shape.layers[0], Section::Down);
  out += model.betweenStages(shape.layers[0], Section::Gated);
  return out;
}

// A number that moved nothing would be a number left out.
TEST(StageCosts, EveryTimeOfTheMachineCounts) {
  const Machine machine = *loadMachine("lpu-v1-node");
  const StageTicks before = stageTicks(machine, 4, false);
  auto slower = [&](auto change, Tick StageTicks::*term) {
    Machine changed = machine;
    change(changed);
    StageTicks after = stageTicks(changed, 4, false);
    EXPECT_GT(after.*term, before.*term);
    EXPECT_GT(after.total(), before.total());
  };
  auto times = [&](Tick TimingParameters::*number, Tick StageTicks::*term) {
    slower([&](Machine &m) { m.timing.*number += 10; }, term);
  };
  times(&TimingParameters::read, &StageTicks::vectors);
  times(&TimingParameters::write, &StageTicks::matrix);
  times(&TimingParameters::load, &StageTicks::matrix);
  times(&TimingParameters::matmul, &StageTicks::attention);
  times(&TimingParameters::alu, &StageTicks::vectors);
  times(&TimingParameters::special, &StageTicks::vectors);
  times(&TimingParameters::cross, &StageTicks::attention);
  times(&TimingParameters::reduce, &StageTicks::vectors);
  times(&TimingParameters::permute, &StageTicks::attention);
  times(&TimingParameters::host, &StageTicks::host);
  times(&TimingParameters::hostVector, &StageTicks::host);
  slower([](Machine &m) { m.link.latency += 10; }, &StageTicks::collectives);
  slower([](Machine &m) { m.link.vectorTicks += 10; }, &StageTicks::hop);
  slower([](Machine &m) { m.matrix.installStreams /= 2; }, &StageTicks::matrix);
}

TEST(StageCosts, MoreRanksShareTheMatricesAndPayForIt) {
  const Machine machine = *loadMachine("lpu-v1-576");
  StageTicks one = stageTicks(machine, 1, false);
  EXPECT_EQ(one.collectives, 0);
  for (int64_t tp : {2, 4, 8}) {
    StageTicks some = stageTicks(machine, tp, false);
    EXPECT_LT(some.matrix, one.matrix);
    EXPECT_GT(some.collectives, 0);
    if (tp > 2) {
      EXPECT_GT(stageTicks(machine, tp, true).collectives, some.collectives)
          << "a ring takes a crossing for each rank";
    }
  }
}

} // namespace
} // namespace orrery::partition
