// How attention is cut into launches.
#include "gpu-reference/kernels/Attention.h"

#include "gpu-reference/kernels/AttentionStep.cuh"

#include <algorithm>
#include <string>

namespace orrery::gpu::ORRERY_GPU {

namespace {

/// Scratch that a slice of tokens may take, unless one token needs more.
/// *Assumed*: small beside a GPU's memory, enough rows to fill it.
constexpr int64_t kScratchBytes = int64_t(128) << 20;
/// Blocks of threads that fill a GPU. *Assumed*: two for each of 132
/// multiprocessors (H100, H200); A100 has 108, B200 148.
constexpr int64_t kFullGrid = 264;
/// Fewest positions of a part: a part's fixed work is worth that of about as
/// many. *Assumed.*
constexpr int32_t kMinSplitPositions = 128;

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Rows a block takes of a KV head that has `rows`.
int32_t rowsOfTile(int64_t rows) { return rows == 1 ? 1 : rows <= 4 ? 4 : 8; }

int32_t chooseSplit(const KvLayout &layout, int32_t heads, int32_t tokens,
                    int32_t bucket) {
  const int64_t rows = int64_t(tokens) * (heads / layout.kvHeads);
  const int64_t tiles = layout.kvHeads * ceilDivide(rows, rowsOfTile(rows));
  const int64_t splits = kEmulated ? 1 : ceilDivide(kFullGrid, tiles);
  const int64_t positions =
      ceilDivide(ceilDivide(bucket, splits), numerics::kBlock) *
      numerics::kBlock;
  return int32_t(
      std::clamp<int64_t>(positions, kMinSplitPositions, kMaxSplitPositions));
}

Status verify(const KvLayout &layout, const AttentionPlan &plan) {
  auto refuse = [](const std::string &what, int64_t found) {
    return Error{"attention: expected " + what + ", found " +
                 std::to_string(found)};
  };
  if (layout.headDim < 1 || layout.headDim > kMaxHeadDim) {
    return refuse("head_dim of 1 to " + std::to_string(kMaxHeadDim),
                  layout.headDim);
  }
  if (layout.kvHeads < 1 || layout.kvHeads > 65535) {
    return refuse("1 to 65535 KV heads", layout.kvHeads);
  }
  if (plan.heads < 1 || plan.heads % layout.kvHeads != 0) {
    return refuse("heads that are a multiple of " +
                      std::to_string(layout.kvHeads) + " KV heads",
                  plan.heads);
  }
  if (plan.tokens < 1) {
    return refuse("at least 1 token", plan.tokens);
  }
  if (plan.bucket < 1 || plan.bucket > (1 << 30)) {
    return refuse("1 to 2^30 positions", plan.bucket);
  }
  if (plan.splitPositions < 0 || plan.splitPositions % numerics::kBlock != 0 ||
      plan.splitPositions > kMaxSplitPositions) {
    return refuse("parts of a multiple of 32 up to " +
                      std::to_string(kMaxSplitPositions) + " positions",
                  plan.splitPositions);
  }
  return Success{};
}

/// Bytes of one row of scratch.
int64_t rowBytes(const AttentionPlan &plan, int32_t headDim) {
  const int64_t part = sizeof(float) + sizeof(int64_t) * (1 + int64_t(headDim));
  return plan.splits() * part + int64_t(sizeof(float)) * plan.bucket;
}

} // namespace

Expected<AttentionPlan> planAttention(const KvLayout &layout, int32_t heads,
                                      int32_t tokens, int32_t bucket,
                                      int32_t splitPositions) {
  AttentionPlan plan;
  plan.heads = heads;
  plan.tokens = tokens;
  plan.bucket = bucket;
  plan.splitPositions = splitPositions;
  if (Status status = verify(layout, plan); !status) {
    return status.error();
  }
  plan.bucket =
      int32_t(ceilDivide(bucket, numerics::kBlock)) * numerics::kBlock;
  if (splitPositions == 0) {
    plan.splitPositions = chooseSplit(layout, heads, tokens, plan.bucket);
  }
  plan.threads = std::min(kEmulated ? 32 : 128, plan.splitPositions);
  // At most 65535 row groups in a grid, too.
  const int64_t fit = kScratchBytes / (rowBytes(plan, layout.headDim) * heads);
  plan.sliceTokens = int32_t(std::clamp<int64_t>(
      std::min<int64_t>(fit, 65535 / (heads / layout.kvHeads)), 1, tokens));
  return plan;
}

size_t attentionScratchBytes(const AttentionPlan &plan,
                             const KvLayout &layout) {
  return size_t(rowBytes(plan, layout.headDim) * plan.heads * plan.sliceTokens);
}

void attention(const float *q, float *out, int32_t tokens,
               const int32_t *position, const KvCacheView &cache,
               const AttentionPlan &plan, void *scratch, FaultSite fault,
               cudaStream_t stream) {
  const int64_t width = int64_t(plan.heads) * cache.layout.headDim;
  const int64_t most = int64_t(plan.sliceTokens) * plan.heads;
  AttentionStep step{};
  step.position = position;
  step.cache = cache;
  step.heads = plan.heads;
  step.bucket = plan.bucket;
  step.splitPositions = plan.splitPositions;
  step.splits = plan.splits();
  step.sums = static_cast<int64_t *>(scratch);
  step.mixed = step.sums + step.splits * most;
  step.scores = reinterpret_cast<float *>(
      step.mixed + step.splits * most * cache.layout.headDim);
  step.greatest = step.scores + most * plan.bucket;
  step.fault = fault;
  for (int32_t first = 0; first < tokens; first += plan.sliceTokens) {
    step.firstToken = first;
    step.tokens = std::min(plan.sliceTokens, tokens - first);
    step.q = q + first * width;
    step.out = out + first * width;
    const int64_t rows = int64_t(step.tokens) * step.group();
    const int32_t tile = rowsOfTile(rows);
    const AttentionLaunch launch{dim3(unsigned(step.splits),
                                      unsigned(cache.layout.kvHeads),
                                      unsigned(ceilDivide(rows, tile))),
                                 dim3(unsigned(plan.threads)), stream};
    launchScores(step, tile, launch);
    launchValues(step, tile, launch);
    launchJoin(step, stream);
  }
}

} // namespace orrery::gpu::ORRERY_GPU
