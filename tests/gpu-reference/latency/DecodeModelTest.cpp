// The step model: against sums by hand, and how it moves with each number.
#include "gpu-reference/latency/DecodeModel.h"
#include "models/Zoo.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>

namespace orrery::gpu::latency {
namespace {

DecodeCase caseOf(const std::string &model, WeightKind weights, KvKind kv,
                  int64_t context, int64_t batch, int64_t gpus) {
  auto config = models::loadShape(model);
  EXPECT_TRUE(config) << config.error().message;
  DecodeCase out;
  out.config = *config;
  out.weights = weights;
  out.kv = kv;
  out.context = context;
  out.batch = batch;
  out.gpus = gpus;
  return out;
}

double usOf(const Gpu &gpu, const DecodeCase &what) {
  auto estimate = estimateDecode(gpu, what);
  EXPECT_TRUE(estimate) << estimate.error().message;
  return estimate ? estimate->us() : -1;
}

TEST(DecodeModel, OneH100ByHand) {
  auto gpu = loadGpu("h100");
  ASSERT_TRUE(gpu);
  auto estimate = estimateDecode(
      *gpu, caseOf("llama-2-7b", WeightKind::F16, KvKind::F16, 4096, 1, 1));
  ASSERT_TRUE(estimate) << estimate.error().message;
  const double hidden = 4096, ffn = 11008, vocab = 32000, layers = 32;
  double perLayer = 2 * (4 * hidden * hidden + 3 * hidden * ffn);
  EXPECT_NEAR(estimate->productsUs, layers * (4 * 3.9 + perLayer / 2.84e6),
              1e-6);
  EXPECT_NEAR(estimate->headUs, 3.9 + 2 * vocab * hidden / 2.84e6, 1e-9);
  // 4096 positions of 32 heads are 67 MB: between 8k and 32k of 8 heads.
  double bytes = 4096 * 32 * 512.0, low = 8192 * 8 * 512.0,
         high = 32768 * 8 * 512.0;
  double attention = 24.6 + (65.5 - 24.6) * (bytes - low) / (high - low);
  EXPECT_NEAR(estimate->attentionUs, layers * attention, 1e-6);
  EXPECT_EQ(estimate->allReduceUs, 0);
  double share = 0.8 * 3.35e6;
  double vectors = 4 * 3 + 2 * (6 * hidden + 6 * hidden + 3 * ffn) / share;
  EXPECT_NEAR(estimate->vectorsUs,
              layers * vectors + 6 + 2 * (3 * hidden + vocab) / share, 1e-6);
  EXPECT_EQ(estimate->weightBytesRead,
            int64_t(layers * perLayer + 2 * vocab * hidden));
  EXPECT_EQ(estimate->weightBytesHeld,
            estimate->weightBytesRead + int64_t(2 * vocab * hidden));
  EXPECT_EQ(estimate->kvBytesRead, int64_t(4096) * 524288);
  EXPECT_NEAR(estimate->rooflineShare(estimate->us()),
              double(estimate->bytesRead()) / 3.35e6 / estimate->us(), 1e-12);
  EXPECT_FALSE(estimate->assumed);
  EXPECT_TRUE(estimate->fits());
}

// facts: GQA counts KV heads; scales are bytes too.
TEST(DecodeModel, BytesOfKvAndScales) {
  auto gpu = loadGpu("h200");
  ASSERT_TRUE(gpu);
  auto estimate = estimateDecode(
      *gpu, caseOf("llama-3.1-8b", WeightKind::Q8_0, KvKind::Q8, 1000, 3, 1));
  ASSERT_TRUE(estimate) << estimate.error().message;
  EXPECT_EQ(estimate->kvBytesRead, int64_t(3) * 1000 * 32 * 8 * 260);
  int64_t elements = 32 * (int64_t(4096) * (4096 + 2 * 1024) + 4096 * 4096 +
                           3 * int64_t(4096) * 14336) +
                     int64_t(128256) * 4096;
  EXPECT_EQ(estimate->weightBytesRead, elements / 32 * 34);
  EXPECT_TRUE(estimate->assumed);
}

TEST(DecodeModel, TensorParallelDividesShapes) {
  auto gpu = loadGpu("h100");
  ASSERT_TRUE(gpu);
  DecodeCase what =
      caseOf("llama-2-70b", WeightKind::F16, KvKind::F16, 2048, 1, 1);
  auto one = estimateDecode(*gpu, what);
  what.gpus = 8;
  auto eight = estimateDecode(*gpu, what);
  ASSERT_TRUE(one && eight);
  EXPECT_EQ(eight->weightBytesRead * 8, one->weightBytesRead);
  EXPECT_EQ(eight->kvBytesRead * 8, one->kvBytesRead);
  EXPECT_FALSE(one->fits());
  EXPECT_TRUE(eight->fits());
  // Two all-reduces a layer of 16 KiB, and the shard with one KV head.
  EXPECT_NEAR(eight->allReduceUs, 80 * 2 * 3.6, 1e-9);
  EXPECT_NEAR(eight->attentionUs, 80 * 16.4, 1e-9);
  EXPECT_EQ(fewestGpus(*gpu, what), 2);
  what.context = 1 << 20;
  EXPECT_EQ(fewestGpus(*gpu, what), 8);
  what.batch = 64;
  EXPECT_EQ(fewestGpus(*gpu, what), 0);
  // More GPUs than KV heads: each has a whole one.
  DecodeCase small =
      caseOf("qwen2.5-7b", WeightKind::F16, KvKind::F16, 512, 1, 4);
  auto four = estimateDecode(*gpu, small);
  small.gpus = 7;
  EXPECT_FALSE(estimateDecode(*gpu, small));
  ASSERT_TRUE(four);
  EXPECT_EQ(four->kvBytesRead, int64_t(512) * 28 * 512);
}

TEST(DecodeModel, StructureOfEngines) {
  auto gpu = loadGpu("a100");
  ASSERT_TRUE(gpu);
  DecodeCase what =
      caseOf("llama-2-7b", WeightKind::Bf16, KvKind::F16, 100, 1, 8);
  double usual = usOf(*gpu, what);
  what.structure.wholeHead = true;
  double bytes = 7.0 / 8 * 32000 * 4096 * 2;
  double logits = 7.0 / 8 * 32000 * 2 / (0.8 * 2.039e6);
  EXPECT_NEAR(usOf(*gpu, what), usual + bytes / 1.63e6 + logits, 1e-6);
  what.structure = {};
  what.structure.gateUpApart = true;
  EXPECT_NEAR(usOf(*gpu, what), usual + 32 * 5.9, 1e-6);
  what.structure = {};
  what.structure.nccl = true;
  EXPECT_NEAR(usOf(*gpu, what), usual + 64 * (21.8 - 8.0), 1e-6);
}

TEST(DecodeModel, TensorsKeepTheirOwnFormats) {
  auto gpu = loadGpu("h100");
  ASSERT_TRUE(gpu);
  DecodeCase what =
      caseOf("llama-2-7b", WeightKind::Q4_0, KvKind::Q8, 64, 1, 1);
  auto before = estimateDecode(*gpu, what);
  what.tensorWeights["output.weight"] = WeightKind::Q8_0;
  auto after = estimateDecode(*gpu, what);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->weightBytesRead - before->weightBytesRead,
            int64_t(32000) * 4096 / 32 * 16);
}

/// More work never takes less time, whatever the rest is.
TEST(DecodeModel, MoreNeverTakesLess) {
  std::mt19937 random(20260101);
  auto below = [&](int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(random);
  };
  const char *models[] = {"llama-2-7b", "llama-3.1-8b", "llama-2-70b",
                          "qwen2.5-0.5b", "stories15m"};
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("seed 20260101, round " + std::to_string(round));
    auto names = gpuNames();
    auto gpu = loadGpu(names[size_t(below(int64_t(names.size())))]);
    ASSERT_TRUE(gpu);
    auto kind = std::array{WeightKind::F16, WeightKind::Q8_0, WeightKind::Q4_0,
                           WeightKind::Int8}[size_t(below(4))];
    auto kv = std::array{KvKind::F16, KvKind::Q8, KvKind::Q4}[size_t(below(3))];
    DecodeCase what = caseOf(models[below(5)], kind, kv, 1 + below(40000),
                             1 + below(300), below(2) ? 2 : 1);
    double us = usOf(*gpu, what);
    ASSERT_GT(us, 0);
    auto grown = [&](const std::function<void(DecodeCase &)> &grow) {
      DecodeCase more = what;
      grow(more);
      return usOf(*gpu, more);
    };
    ASSERT_GE(grown([&](DecodeCase &c) { c.context += 1 + below(5000); }), us);
    ASSERT_GE(grown([&](DecodeCase &c) { c.batch += 1 + below(100); }), us);
    ASSERT_GT(grown([&](DecodeCase &c) { ++c.config.layers; }), us);
    ASSERT_GE(grown([&](DecodeCase &c) { c.config.vocab += 1 + below(9000); }),
              us);
    ASSERT_GE(grown([&](DecodeCase &c) { c.config.intermediate *= 2; }), us);
  }
}

TEST(DecodeModel, RefusesWhatItIsNotMadeFor) {
  auto gpu = loadGpu("a100");
  ASSERT_TRUE(gpu);
  auto message = [&](const DecodeCase &what) {
    auto estimate = estimateDecode(*gpu, what);
    EXPECT_FALSE(estimate);
    return estimate ? "" : estimate.error().message;
  };
  DecodeCase what =
      caseOf("llama-2-7b", WeightKind::F16, KvKind::F16, 100, 1, 16);
  EXPECT_EQ(message(what), "tp=16: expected 1 to the 8 GPUs that NVLink joins");
  what.beyondNode = true;
  EXPECT_TRUE(estimateDecode(*gpu, what));
  what.beyondNode = false;
  what.gpus = 3;
  EXPECT_EQ(message(what),
            "tp=3: expected a number that divides 32 heads, 32 KV heads (or is "
            "a multiple) and a feed-forward of 11008");
  what.gpus = 1;
  what.context = int64_t(1) << 40;
  what.batch = 1 << 20;
  EXPECT_NE(message(what).find("whose KV caches have a size in 64 bits"),
            std::string::npos);
  what.context = 0;
  EXPECT_NE(message(what).find("found 1048576 x 0"), std::string::npos);
  what.context = what.batch = 1;
  what.weights = WeightKind::Fp8;
  EXPECT_EQ(message(what), "a100: no fp8 matrix product was measured");
  EXPECT_NE(
      message(caseOf("mixtral-8x7b", WeightKind::F16, KvKind::F16, 100, 1, 1))
          .find("experts"),
      std::string::npos);
}

} // namespace
} // namespace orrery::gpu::latency
