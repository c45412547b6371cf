// New K and V rows into the pages of the KV cache (numerics, rule 10).
#pragma once

#include "gpu-reference/Cuda.h"
#include "gpu-reference/KvLayout.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

/// One layer of the cache of one sequence, in device memory.
struct KvCacheView {
  uint8_t *pool;        ///< pages of layout.pageBytes(), 16-byte aligned
  const int32_t *table; ///< page of each logical page (KvPages::table)
  KvLayout layout;
  int32_t layer;
};

/// Stores rows k, v f32 [tokens][kvHeads * headDim], k after RoPE, at positions
/// *position + t, whose pages `cache.table` must name. `position` is in device
/// memory, so that a recorded launch can be replayed. A row that does not fit
/// the format (not finite, or a scale or half that overflows) leaves a NaN
/// scale or an infinite half, and attention over it reports what comes of that.
void kvAppend(const float *k, const float *v, int32_t tokens,
              const int32_t *position, const KvCacheView &cache,
              cudaStream_t stream);

} // namespace orrery::gpu::ORRERY_GPU
