// Checks of allocs and regions.
#include "dialects/flow/FlowChecks.h"

using namespace mlir;

namespace orrery::flow {

LogicalResult AllocOp::verify() {
  if (getSide() < -1 || getSide() > 1) {
    return emitOpError("(C1) side is -1, 0 or 1, found ") << getSide();
  }
  return success();
}

LogicalResult RegionOp::verify() {
  auto buffer = dyn_cast<BufferType>(getMemory().getType());
  if ((getKind() == Kind::Weight && buffer) ||
      (getKind() == Kind::Table &&
       (!buffer || buffer.getType() != StreamType::F32))) {
    return emitOpError("(C1) a weight region is tiles, a table an f32 buffer");
  }
  if (bool(getRows()) != (getKind() != Kind::Kv) ||
      bool(getColumns()) != (getKind() == Kind::Weight)) {
    return emitOpError("(C2) a weight region has rows and columns, a table "
                       "rows, a KV region neither");
  }
  if (getSide() < (buffer ? -1 : 0) || getSide() > 1) {
    return emitOpError("(C3) side ")
           << getSide() << " for " << getMemory().getType();
  }
  bool weight = getKind() == Kind::Weight;
  if (getFirst() < 0 || getLow() < 0 ||
      (!weight && (getFirst() != 0 || getLow() != 0))) {
    return emitOpError("(C4) first ")
           << getFirst() << " and low " << getLow() << " of a "
           << stringifyKind(getKind()) << " region";
  }
  if (getName().empty()) {
    return emitOpError("(C5) needs a name");
  }
  bool shardable = weight || getName().starts_with("argmax.");
  if (getReplicas() < 1 || getShardOf() < 0 ||
      (getShardOf() > 0 && !shardable) ||
      (getShardOf() == 0 && getReplicas() != 1)) {
    return emitOpError("(C6) shard_of ")
           << getShardOf() << " replicas " << getReplicas();
  }
  bool plain = getColumnsOf() == 0 && getOfRanks() == 1;
  if (getColumnsOf() < 0 || getBehind() < 0 || getBehind() >= getOfRanks() ||
      (!weight && !plain) || (getOfRanks() > 1 && getReplicas() != 1)) {
    return emitOpError("(C7) columns_of ")
           << getColumnsOf() << " behind " << getBehind() << " of_ranks "
           << getOfRanks();
  }
  return success();
}

} // namespace orrery::flow
