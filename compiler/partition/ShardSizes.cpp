#include "compiler/partition/ShardSizes.h"

namespace orrery::partition {

int64_t shardWidth(int64_t n, int64_t tp) {
  if (tp == 1) {
    return n;
  }
  int64_t blocks = (n + 31) / 32;
  return (blocks + tp - 1) / tp * 32;
}

HeadShard shardHeads(int64_t heads, int64_t kvHeads, int64_t headDim,
                     int64_t tp) {
  if (tp == 1) {
    return {heads, kvHeads, 1};
  }
  int64_t group = heads / kvHeads;
  for (int64_t replicas = tp / kvHeads; replicas > 1; --replicas) {
    if (group % replicas == 0 && group / replicas * headDim % 32 == 0) {
      return {group / replicas, 1, replicas};
    }
  }
  int64_t local = (kvHeads + tp - 1) / tp;
  while (local * group * headDim % 32 != 0) {
    ++local; // ends: 32 KV heads are whole blocks
  }
  return {local * group, local, 1};
}

} // namespace orrery::partition
