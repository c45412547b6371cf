// New K and V rows into the pages of the KV cache (numerics, rule 10).
#pragma once

#include "gpu-reference/Cuda.h"
#include "models/KvLayout.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

using models::KvLayout;

/// One layer of the cache, in device memory, as the rows of a step find it:
/// consecutive positions of one sequence, or one position of each of several.
struct KvCacheView {
  uint8_t *pool; ///< pages of layout.pageBytes(), 16-byte aligned
  /// Page of each logical page (KvPages::table): row t of the step has its
  /// sequence's at `tables` + t * `tableStride`.
  const int32_t *tables;
  int32_t tableStride; ///< 0: all rows are of one sequence
  KvLayout layout;
  int32_t layer;

  /// Whether each row is of a sequence of its own.
  ORRERY_HD bool batched() const { return tableStride != 0; }
};

/// Stores rows k, v f32 [rows][kvHeads * headDim], k after RoPE, row t at
/// position[t], whose page its table must name. Rows of one sequence stand at
/// consecutive positions; no two rows of a batch may share a page. `position`
/// [rows] is in device memory, so that a recorded launch can be replayed. A row
/// that does not fit the format (not finite, or a scale or half that overflows)
/// leaves a NaN scale or an infinite half, and attention over it reports what
/// comes of that.
void kvAppend(const float *k, const float *v, int32_t rows,
              const int32_t *position, const KvCacheView &cache,
              cudaStream_t stream);

} // namespace orrery::gpu::ORRERY_GPU
