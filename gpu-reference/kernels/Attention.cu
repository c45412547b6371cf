// How attention is cut into launches.
#include "gpu-reference/kernels/Attention.h"

#include "gpu-reference/kernels/AttentionStep.cuh"

#include <algorithm>
#include <string>

namespace orrery::gpu::ORRERY_GPU {

namespace {

/// Scratch that a slice of rows may take, unless one row needs more.
/// *Assumed*: small beside a GPU's memory, enough rows to fill it.
constexpr int64_t kScratchBytes = int64_t(128) << 20;
/// Blocks of threads that fill a GPU. *Assumed*: two for each of 132
/// multiprocessors (H100, H200); A100 has 108, B200 148.
constexpr int64_t kFullGrid = 264;
/// Fewest positions of a part: a part's fixed work is worth that of about as
/// many. *Assumed.*
constexpr int32_t kMinSplitPositions = 128;

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How a KV head's query rows are divided over blocks of threads: a block takes
/// rows of one sequence only, as they share its keys and values.
struct Tiling {
  int32_t rows;  ///< that a block takes at most
  int64_t count; ///< blocks

  Tiling(int32_t tokenRows, int32_t group, bool batched) {
    const int64_t sequences = batched ? tokenRows : 1;
    const int64_t together = int64_t(batched ? 1 : tokenRows) * group;
    rows = together == 1 ? 1 : together <= 4 ? 4 : 8;
    count = sequences * ceilDivide(together, rows);
  }
};

int32_t chooseSplit(const KvLayout &layout, const AttentionPlan &plan,
                    bool batched) {
  const Tiling tiling(plan.rows, plan.heads / layout.kvHeads, batched);
  const int64_t tiles = layout.kvHeads * tiling.count;
  const int64_t splits = kEmulated ? 1 : ceilDivide(kFullGrid, tiles);
  const int64_t positions =
      ceilDivide(ceilDivide(plan.bucket, splits), numerics::kBlock) *
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
  if (plan.rows < 1) {
    return refuse("at least 1 row", plan.rows);
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
                                      int32_t rows, int32_t bucket,
                                      int32_t splitPositions, bool batched) {
  AttentionPlan plan;
  plan.heads = heads;
  plan.rows = rows;
  plan.bucket = bucket;
  plan.splitPositions = splitPositions;
  if (Status status = verify(layout, plan); !status) {
    return status.error();
  }
  plan.bucket =
      int32_t(ceilDivide(bucket, numerics::kBlock)) * numerics::kBlock;
  if (splitPositions == 0) {
    plan.splitPositions = chooseSplit(layout, plan, batched);
  }
  plan.threads = std::min(kEmulated ? 32 : 128, plan.splitPositions);
  // At most 65535 row groups in a grid, too.
  const int64_t fit = kScratchBytes / (rowBytes(plan, layout.headDim) * heads);
  plan.sliceRows = int32_t(std::clamp<int64_t>(
      std::min<int64_t>(fit, 65535 / (heads / layout.kvHeads)), 1, rows));
  return plan;
}

size_t attentionScratchBytes(const AttentionPlan &plan,
                             const KvLayout &layout) {
  return size_t(rowBytes(plan, layout.headDim) * plan.heads * plan.sliceRows);
}

void attention(const float *q, float *out, int32_t rows,
               const int32_t *position, const KvCacheView &cache,
               const AttentionPlan &plan, void *scratch, FaultSite fault,
               cudaStream_t stream) {
  const int64_t width = int64_t(plan.heads) * cache.layout.headDim;
  const int64_t most = int64_t(plan.sliceRows) * plan.heads;
  AttentionStep step{};
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
  for (int32_t first = 0; first < rows; first += plan.sliceRows) {
    step.firstToken = first;
    step.tokens = std::min(plan.sliceRows, rows - first);
    step.q = q + first * width;
    step.out = out + first * width;
    step.position = position + first;
    step.cache.tables = cache.tables + int64_t(first) * cache.tableStride;
    const Tiling tiling(step.tokens, step.group(), cache.batched());
    const AttentionLaunch launch{dim3(unsigned(step.splits),
                                      unsigned(cache.layout.kvHeads),
                                      unsigned(tiling.count)),
                                 dim3(unsigned(plan.threads)), stream};
    launchScores(step, tiling.rows, launch);
    launchValues(step, tiling.rows, launch);
    launchJoin(step, stream);
  }
}

} // namespace orrery::gpu::ORRERY_GPU
