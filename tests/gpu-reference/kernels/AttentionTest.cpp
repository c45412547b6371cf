// Attention over pages against the interpreter's llm.attention (on a device
// against its formulas as plain loops), bit for bit: any shape, split, order of
// threads, order of pages, chunk of tokens.
#include "gpu-reference/kernels/Attention.h"

#include "tests/gpu-reference/kernels/AttentionPair.h"

namespace orrery::gpu::ORRERY_GPU {
namespace {

using Shape = AttentionShape;
using Pair = AttentionPair;

class Attention : public testing::TestWithParam<Shape> {};

// Contexts around every border of blocks, pages and parts.
TEST_P(Attention, SameBitsAsTheInterpreter) {
  const Shape shape = GetParam();
  uint32_t seed = 100;
  for (int32_t visible : {1, 2, 31, 32, 33, 63, 64, 65, 129}) {
    ++seed;
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " +
                 std::to_string(visible) + " positions visible to the last");
    const OrderScope scope(seed);
    std::mt19937 random(seed);
    const int32_t tokens = std::min<int32_t>(visible, 1 + random() % 5);
    const int32_t at = visible - tokens;
    Pair pair(shape, random() % 2 ? 32 : 64, visible + int32_t(random() % 70),
              random);
    pair.fill(at);
    const auto q = pair.values(tokens, shape.heads);
    const auto k = pair.values(tokens, shape.kvHeads);
    const auto v = pair.values(tokens, shape.kvHeads);
    pair.cache.append(Pair::kLayer, at, k, v);
    const auto expected = pair.expected.attend(q, k, v, at);
    AttentionPlan plan = pair.plan(tokens, 32 * int32_t(random() % 5));
    plan.threads = 32 * int32_t(1 + random() % 4);
    plan.sliceRows = int32_t(1 + random() % uint32_t(tokens));
    expectSame(pair.run(q, tokens, at, plan), expected,
               shape.heads * shape.headDim);
    if (HasFailure()) {
      return;
    }
  }
}

// One cache, one result, however it is cut: 1 to 4 parts, any threads.
TEST_P(Attention, SplitsOrdersAndThreadsDoNotMatter) {
  const Shape shape = GetParam();
  std::mt19937 random(3);
  constexpr int32_t kTokens = 3, kAt = 110;
  Pair pair(shape, 32, 128, random);
  pair.fill(kAt);
  const auto q = pair.values(kTokens, shape.heads);
  const auto k = pair.values(kTokens, shape.kvHeads);
  const auto v = pair.values(kTokens, shape.kvHeads);
  pair.cache.append(Pair::kLayer, kAt, k, v);
  const auto expected = pair.expected.attend(q, k, v, kAt);
  uint32_t seed = 0;
  for (int32_t split : {32, 64, 96, 128}) {
    for (int32_t threads : {32, 64, 256}) {
      for (int32_t slice : {1, 2, 3}) {
        const OrderScope scope(++seed);
        AttentionPlan plan = pair.plan(kTokens, split);
        plan.threads = threads;
        plan.sliceRows = slice;
        SCOPED_TRACE("split " + std::to_string(split) + ", threads " +
                     std::to_string(threads) + ", slice " +
                     std::to_string(slice) + ", order seed " +
                     std::to_string(seed));
        expectSame(pair.run(q, kTokens, kAt, plan), expected,
                   shape.heads * shape.headDim);
        if (HasFailure()) {
          return;
        }
      }
    }
  }
}

// A prompt again from an earlier position: what was behind it is still in the
// pages and must not be seen. Its rows are NaN, its scales and halves too.
TEST_P(Attention, StaleRowsBehindAreNotSeen) {
  const Shape shape = GetParam();
  std::mt19937 random(5);
  Pair pair(shape, 32, 96, random);
  const std::vector<float> bad(size_t(70 * shape.kvHeads * shape.headDim), NAN);
  pair.cache.append(Pair::kLayer, 0, bad, bad);
  pair.fill(20);
  const auto q = pair.values(2, shape.heads);
  const auto k = pair.values(2, shape.kvHeads);
  const auto v = pair.values(2, shape.kvHeads);
  pair.cache.append(Pair::kLayer, 20, k, v);
  const auto expected = pair.expected.attend(q, k, v, 20);
  EXPECT_EQ(firstFault(expected, shape.heads * shape.headDim), std::nullopt);
  expectSame(pair.run(q, 2, 20, pair.plan(2, 32)), expected,
             shape.heads * shape.headDim);
}

// Rows that do not exist are found where the interpreter finds them, and only
// there: a later token's infinity is nothing to an earlier one.
TEST_P(Attention, FaultsAreThoseOfTheInterpreter) {
  const Shape shape = GetParam();
  constexpr int32_t kTokens = 5, kAt = 31;
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderScope scope(seed);
    std::mt19937 random(seed);
    Pair pair(shape, 32, 64, random);
    pair.fill(kAt);
    auto q = pair.values(kTokens, shape.heads);
    auto k = pair.values(kTokens, shape.kvHeads);
    auto v = pair.values(kTokens, shape.kvHeads);
    const float bad[] = {NAN, INFINITY, 1e9f, -1e5f};
    std::vector<float> &spoiled = seed % 3 == 0 ? q : seed % 3 == 1 ? k : v;
    spoiled[random() % spoiled.size()] = bad[seed % 4];
    pair.cache.append(Pair::kLayer, kAt, k, v);
    const auto expected = pair.expected.attend(q, k, v, kAt);
    AttentionPlan plan = pair.plan(kTokens, 32);
    plan.threads = 64;
    expectSame(pair.run(q, kTokens, kAt, plan), expected,
               shape.heads * shape.headDim);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Attention,
    testing::Values(
        Shape{4, 2, 8, KvFormat::Q8}, Shape{3, 1, 24, KvFormat::Q8},
        Shape{2, 2, 40, KvFormat::Q8}, Shape{7, 1, 80, KvFormat::Q8},
        Shape{6, 3, 100, KvFormat::Q8}, Shape{12, 1, 33, KvFormat::Q8},
        Shape{2, 1, 256, KvFormat::Q8}, Shape{1, 1, 1, KvFormat::Q8},
        Shape{4, 2, 8, KvFormat::Q4}, Shape{3, 1, 24, KvFormat::Q4},
        Shape{2, 2, 40, KvFormat::Q4}, Shape{8, 2, 96, KvFormat::Q4},
        Shape{6, 3, 100, KvFormat::Q4}, Shape{1, 1, 1, KvFormat::Q4},
        Shape{4, 2, 8, KvFormat::F16}, Shape{3, 1, 24, KvFormat::F16},
        Shape{2, 2, 40, KvFormat::F16}, Shape{9, 1, 80, KvFormat::F16},
        Shape{4, 2, 100, KvFormat::F16}));

// As many positions as take a device every part and block of its grid, by the
// plan that it chooses itself.
TEST(AttentionLong, ThousandsOfPositions) {
  for (KvFormat format : {KvFormat::Q8, KvFormat::Q4, KvFormat::F16}) {
    std::mt19937 random(21);
    const Shape shape =
        kEmulated ? Shape{2, 1, 32, format} : Shape{32, 8, 128, format};
    const int32_t at = kEmulated ? 2100 : 8200;
    Pair pair(shape, 64, at + 40, random);
    pair.fill(at);
    for (int32_t tokens : {1, 3}) {
      const auto q = pair.values(tokens, shape.heads);
      const auto k = pair.values(tokens, shape.kvHeads);
      const auto v = pair.values(tokens, shape.kvHeads);
      pair.cache.append(Pair::kLayer, at, k, v);
      const auto expected = pair.expected.attend(q, k, v, at);
      expectSame(pair.run(q, tokens, at, pair.plan(tokens)), expected,
                 shape.heads * shape.headDim);
      ASSERT_FALSE(HasFailure()) << tokens << " tokens";
    }
  }
}

/// Sums that leave +-2^27 though every value fits its format.
TEST(AttentionOverflow, IsReported) {
  for (KvFormat format : {KvFormat::F16, KvFormat::Q8, KvFormat::Q4}) {
    std::mt19937 random(1);
    const Shape shape{2, 1, 64, format};
    Pair pair(shape, 32, 32, random);
    std::vector<float> q = pair.values(1, 2);
    std::fill(q.begin() + 64, q.end(), 6e4f); // the second head
    std::vector<float> k(64, 6e4f), v(64, 6e4f);
    if (format != KvFormat::F16) { // scores of codes: 64 * 7 or 127 * x
      std::fill(q.begin() + 64, q.end(), 1e6f);
    }
    pair.cache.append(Pair::kLayer, 0, k, v);
    const auto expected = pair.expected.attend(q, k, v, 0);
    const Outcome found = pair.run(q, 1, 0, pair.plan(1));
    expectSame(found, expected, 128);
    EXPECT_EQ(found.fault, (FaultPlace{Pair::kOp, 0, 64}));
  }
}

TEST(AttentionBucket, PositionsBehindItAreReported) {
  std::mt19937 random(1);
  const Shape shape{1, 1, 8, KvFormat::Q8};
  Pair pair(shape, 32, 64, random);
  pair.fill(33);
  const AttentionPlan plan = must(planAttention(pair.cache.layout, 1, 2, 32));
  const Outcome found = pair.run(pair.values(2, 1), 2, 31, plan);
  EXPECT_EQ(found.fault, (FaultPlace{Pair::kOp, 1, 0}));
  EXPECT_TRUE(std::isfinite(found.values[0]));
}

// Recorded once, replayed at every position: nothing of a step is in the
// launches themselves.
TEST(AttentionGraph, ReplaysAtLaterPositions) {
  std::mt19937 random(11);
  const Shape shape{4, 2, 40, KvFormat::Q8};
  Pair pair(shape, 32, 96, random);
  const AttentionPlan plan = pair.plan(1, 32);
  auto buffer = [](size_t count) {
    return must(Buffer<float>::allocate(count, "rows"));
  };
  Buffer<float> q = buffer(160), k = buffer(80), v = buffer(80),
                out = buffer(160);
  Buffer<uint8_t> scratch = must(Buffer<uint8_t>::allocate(
      attentionScratchBytes(plan, pair.cache.layout), "scratch"));
  cudaStream_t stream = nullptr;
  check(cudaStatus(cudaStreamCreate(&stream), "stream"));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStatus(
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
      "begin"));
  const KvCacheView view = pair.cache.view(Pair::kLayer);
  const int32_t *position = pair.cache.position.data();
  kvAppend(k.data(), v.data(), 1, position, view, stream);
  attention(q.data(), out.data(), 1, position, view, plan, scratch.data(), {},
            stream);
  check(cudaStatus(cudaStreamEndCapture(stream, &graph), "end"));
  check(cudaStatus(cudaGraphInstantiate(&exec, graph, 0), "instantiate"));
  for (int32_t at = 0; at < 70; ++at) {
    const auto qs = pair.values(1, 4), ks = pair.values(1, 2),
               vs = pair.values(1, 2);
    check(q.upload(qs));
    check(k.upload(ks));
    check(v.upload(vs));
    pair.cache.moveTo(at, 1);
    check(cudaStatus(cudaGraphLaunch(exec, stream), "launch"));
    check(cudaStatus(cudaStreamSynchronize(stream), "replay"));
    expectSame({must(out.read()), std::nullopt},
               pair.expected.attend(qs, ks, vs, at), 160);
    ASSERT_FALSE(testing::Test::HasFailure()) << "position " << at;
  }
  check(cudaStatus(cudaGraphExecDestroy(exec), "destroy"));
  check(cudaStatus(cudaGraphDestroy(graph), "destroy"));
  check(cudaStatus(cudaStreamDestroy(stream), "destroy"));
}

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
