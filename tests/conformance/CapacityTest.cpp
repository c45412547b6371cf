// What fits is said before anything runs, in numbers that add up, and a chip
// with less room refuses instead of misbehaving.
#include "models/RandomWeights.h"
#include "simulator/check/Check.h"
#include "tests/conformance/CaseRun.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>
#include <type_traits>

namespace orrery::test {
namespace {

models::ModelConfig smollm135() {
  models::ModelConfig c;
  c.name = "SmolLM2-135M";
  c.architecture = "llama";
  c.layers = 30;
  c.hidden = 576;
  c.heads = 9;
  c.kvHeads = 3;
  c.headDim = c.ropeDimension = 64;
  c.intermediate = 1536;
  c.vocab = 49152;
  c.contextLength = 8192;
  c.normEps = 1e-5f;
  c.ropeTheta = 100000;
  c.tiedEmbeddings = true;
  return c;
}

models::ModelConfig smallModel() {
  models::ModelConfig c;
  c.name = "small";
  c.architecture = "llama";
  c.layers = 2;
  c.hidden = 96;
  c.heads = 6;
  c.kvHeads = 2;
  c.headDim = c.ropeDimension = 16;
  c.intermediate = 172;
  c.vocab = 503;
  c.contextLength = 130;
  c.normEps = 1e-5f;
  return c;
}

CompileRequest request(const std::string &machine, int64_t context,
                       llm::KvFormat kv) {
  CompileRequest r;
  r.machine = machine;
  r.import.context = context;
  r.import.bucket = std::min<int64_t>(context, 64);
  r.import.kvFormat = kv;
  return r;
}

/// The number that follows `words` in `text`, or -1.
int64_t numberAfter(const std::string &text, const std::string &words) {
  size_t at = text.find(words);
  return at == std::string::npos ? -1
                                 : std::atoll(text.c_str() + at + words.size());
}

TEST(CapacityTest, SmolLm2At8192PositionsInHalvesIsRefused) {
  auto context = makeContext();
  auto step = compileStep(*context, smollm135(),
                          request("lpu-v1", 8192, llm::KvFormat::F16));
  ASSERT_FALSE(step);
  const std::string &why = step.error().message;
  std::printf("%s\n", why.c_str());
  EXPECT_NE(why.find("188743680 B at 8192 positions"), std::string::npos);
  EXPECT_NE(why.find("the chip has 230686720 B"), std::string::npos);
  EXPECT_EQ(why.find('\n'), std::string::npos);
  EXPECT_GT(numberAfter(why, "no context above "), 1000);
}

// A refusal says what would fit, and that does fit, and no tile more.
TEST(CapacityTest, WhatWouldFitFits) {
  auto context = makeContext();
  auto config = smollm135();
  auto asked = request("lpu-v1", 8192, llm::KvFormat::F16);
  auto refused = compileStep(*context, config, asked);
  ASSERT_FALSE(refused);
  Error error = withRoomFor(refused.error(), *context, config, asked);
  std::printf("%s\n", error.message.c_str());
  int64_t fits = numberAfter(error.message, "; a context of ");
  ASSERT_GT(fits, 0);
  EXPECT_LE(fits, numberAfter(error.message, "no context above "));
  asked.import.context = asked.import.bucket = fits;
  auto step = compileStep(*context, config, asked);
  EXPECT_TRUE(step) << step.error().message;
  asked.import.context = asked.import.bucket = fits + 1;
  EXPECT_FALSE(compileStep(*context, config, asked));
}

TEST(CapacityTest, SramAddsUp) {
  auto context = makeContext();
  for (const char *machine : {"lpu-small", "lpu-v1"}) {
    auto step = compileStep(*context, smallModel(),
                            request(machine, 130, llm::KvFormat::Q8));
    ASSERT_TRUE(step) << step.error().message;
    Machine chip = *loadMachine(machine);
    auto sram = check::checkProgram(step->program(), chip).sram;
    Bytes parts = std::accumulate(sram.bytesOfKind.begin(),
                                  sram.bytesOfKind.end(), Bytes(0));
    auto kind = [&](RegionKind k) {
      return (long long)sram.bytesOfKind[size_t(k)];
    };
    std::printf("%s: weights %lld + tables %lld + KV %lld + temporaries %lld + "
                "program %lld + free %lld = %lld B\n",
                machine, kind(RegionKind::Weight), kind(RegionKind::Table),
                kind(RegionKind::Kv), kind(RegionKind::Temporary),
                kind(RegionKind::Instructions), (long long)sram.free,
                (long long)sram.capacity);
    EXPECT_EQ(parts + sram.free, chip.sramBytes());
    EXPECT_EQ(sram.capacity, chip.sramBytes());
    for (Bytes bytes : sram.bytesOfKind) {
      EXPECT_GT(bytes, 0);
    }
    // KV heads count, not heads, and padding is charged.
    EXPECT_GE(sram.bytesOfKind[size_t(RegionKind::Kv)],
              models::kvBytesPerToken(smallModel(), models::KvFormat::Q8) *
                  130);
  }
}

// From plenty to nothing: runs with the same logits, then refused for good.
TEST(CapacityTest, LessSramRefuses) {
  RandomCase drawn = drawCase(3);
  drawn.model = smallModel();
  drawn.options = {};
  drawn.options.context = 130;
  drawn.options.chunk = 4;
  drawn.reads = {{1, 2, 3, 4, 5}, {6}};
  drawn.machine = *loadMachine("lpu-small");
  int64_t ran = 0, refused = 0;
  for (int32_t depth :
       {4096, 1024, 700, 512, 400, 300, 256, 192, 128, 64, 32, 16}) {
    drawn.machine.sram.vectorsPerBank = depth;
    CaseOutcome outcome = runCase(drawn);
    EXPECT_EQ(outcome.failure, "") << depth << " vectors a bank";
    if (outcome.refusal.empty()) {
      EXPECT_EQ(refused, 0) << "a smaller chip fits what a larger did not";
      ++ran;
    } else {
      ++refused;
      std::printf("%d vectors a bank: %s\n", depth, outcome.refusal.c_str());
      EXPECT_NE(outcome.refusal.find_first_of("0123456789"), std::string::npos);
    }
  }
  std::printf("%lld chips ran, %lld smaller ones refused\n", (long long)ran,
              (long long)refused);
  EXPECT_GT(ran, 1);
  EXPECT_GT(refused, 1);
}

TEST(CapacityTest, ContextHoldsItsTokensAndNoMore) {
  models::RandomWeights weights(smallModel(), 1);
  runtime::SessionOptions options;
  options.machine = "lpu-small";
  for (int64_t context : {1, 63, 64, 65, 127, 129}) {
    options.context = context;
    options.chunk = 16;
    auto session = runtime::Session::open(weights, options);
    ASSERT_TRUE(session) << session.error().message;
    std::vector<int32_t> ids(size_t(context) + 1, 7);
    auto tooMany = (*session)->read(ids);
    ASSERT_FALSE(tooMany);
    EXPECT_EQ((*session)->currentPosition(), 0u) << "ran before it refused";
    ids.pop_back();
    auto all = (*session)->read(ids);
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ((*session)->currentPosition(), context);
    auto oneMore = (*session)->read(std::vector<int32_t>{7});
    ASSERT_FALSE(oneMore);
    EXPECT_NE(oneMore.error().message.find(std::to_string(context)),
              std::string::npos);
  }
}

// 32 heads of 8192 x 8192 scores are the first int32 overflow.
TEST(CapacityTest, CountersAre64Bits) {
  sim::Counters c;
  static_assert(std::is_same_v<decltype(c.int8Macs), uint64_t>);
  static_assert(std::is_same_v<decltype(c.f16Macs), uint64_t>);
  static_assert(std::is_same_v<decltype(c.aluOps), uint64_t>);
  static_assert(std::is_same_v<decltype(c.bytesRead()), uint64_t>);
  static_assert(std::is_same_v<decltype(c.hopBytes()), uint64_t>);
  static_assert(sizeof(sim::UnitCounters::busyTicks) == 8);
  static_assert(sizeof(sim::StreamCounters::hopBytes) == 8);
  static_assert(sizeof(sim::SliceCounters::bytesRead) == 8);
  static_assert(sizeof(Tick) == 8 && sizeof(Bytes) == 8);
}

} // namespace
} // namespace orrery::test
