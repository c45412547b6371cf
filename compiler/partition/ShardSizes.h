// How wide the shards of tensor-parallel ranks are.
//
// All ranks run one program, so all shards of a tensor are equally wide, and
// what is past the tensor's end is zeros. A shard is whole blocks of 32, since
// quantization works on blocks: a block has one owner.
#pragma once

#include <cstdint>

namespace orrery::partition {

/// Width of the shards of n elements over tp ranks; n for one rank.
int64_t shardWidth(int64_t n, int64_t tp);

/// Attention heads of one rank. Rank r has query heads [r * heads, ...) and KV
/// heads [r / replicas * kvHeads, ...); heads past the model's are zeros.
struct HeadShard {
  int64_t heads, kvHeads;
  int64_t replicas; ///< ranks that hold the same KV heads
  bool operator==(const HeadShard &) const = default;
};

/// Whole KV heads with their query heads while there are enough of them; more
/// ranks than KV heads share one, each with a part of its query heads. Rounded
/// up until the query heads of a rank are whole blocks of 32; perhaps beyond
/// the model's KV heads: a query head of zeros with the keys and values of
/// another head would not give zeros, and would share a block with it.
HeadShard shardHeads(int64_t heads, int64_t kvHeads, int64_t headDim,
                     int64_t tp);

} // namespace orrery::partition
