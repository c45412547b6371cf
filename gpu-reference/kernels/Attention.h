// Causal attention of new tokens over the KV cache, split over positions: what
// llm.attention computes behind the append, bit for bit.
//
// Three launches: scores with the greatest of each part; exponentials, their
// sum and the weighted values of each part against the greatest of all; the
// parts added and divided. The sums are exact accumulators, so parts of any
// multiple of 32 positions give the same bits.
#pragma once

#include "gpu-reference/Fault.h"
#include "gpu-reference/kernels/KvAppend.h"
#include "machine/Result.h"

#include <cstddef>
#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// Greatest head_dim that the kernels take.
inline constexpr int32_t kMaxHeadDim = 256;

/// How attention of up to `rows` rows (tokens of one sequence, or one token
/// each of several) over up to `bucket` positions is cut into launches. The
/// bits do not depend on it.
struct AttentionPlan {
  int32_t heads = 0;
  int32_t rows = 0;           ///< at most, in one call
  int32_t bucket = 0;         ///< positions the grid covers, a multiple of 32
  int32_t splitPositions = 0; ///< of a part, a multiple of 32
  int32_t sliceRows = 0;      ///< that one launch takes, as scratch is bounded
  int32_t threads = 0;        ///< of a block, a multiple of 32 up to 256

  int32_t splits() const {
    return (bucket + splitPositions - 1) / splitPositions;
  }
};

/// A plan for `heads` query heads over caches of `layout`; `batched` if each
/// row is of a sequence of its own. `bucket` is rounded up to a multiple of 32.
/// `splitPositions` 0 chooses: parts small enough to fill a GPU. Fails for
/// heads that the KV heads do not divide, a head_dim above kMaxHeadDim, a split
/// that is not a multiple of 32 up to 512, and numbers below 1.
Expected<AttentionPlan> planAttention(const KvLayout &layout, int32_t heads,
                                      int32_t rows, int32_t bucket,
                                      int32_t splitPositions = 0,
                                      bool batched = false);

/// Device memory that calls with `plan` need, used anew by each of them.
size_t attentionScratchBytes(const AttentionPlan &plan, const KvLayout &layout);

/// out[t][h * headDim + i] f32 of q f32 [rows][heads * headDim], after RoPE:
/// row t sees positions 0 .. position[t] of its sequence, which must be in the
/// cache and inside plan.bucket; rows at most plan.rows; rows of one sequence
/// stand at consecutive positions. `scratch` has attentionScratchBytes() and
/// 256-byte alignment. A result that is not finite, as after an accumulator
/// left +-2^27, is reported at (t, h * headDim + i).
void attention(const float *q, float *out, int32_t rows,
               const int32_t *position, const KvCacheView &cache,
               const AttentionPlan &plan, void *scratch, FaultSite fault,
               cudaStream_t stream);

} // namespace orrery::gpu::ORRERY_GPU
