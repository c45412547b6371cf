// Checks of the ops in GridCollectives.td. All have a shard, E wide, of a whole
// that is N wide, and rows of T tokens.
#include "dialects/grid/Grid.h"

using namespace mlir;

namespace orrery::grid {

static LogicalResult verifyShards(Operation *op, int64_t shard, int64_t whole) {
  if (shard % 32 != 0) { // (C3)
    return op->emitOpError("(C3) has a shard of ")
           << shard << ", expected a multiple of 32";
  }
  int64_t ranks = cast<StageOp>(op->getParentOp()).getTp();
  if ((whole + shard - 1) / shard > ranks) { // (C4)
    return op->emitOpError("(C4) has ") << ranks << " shards of " << shard
                                        << " for " << whole << " elements";
  }
  return success();
}

static LogicalResult verifyTokens(Operation *op, int64_t in, int64_t out) {
  return in == out ? success()
                   : op->emitOpError("(C2) takes ")
                         << in << " rows but gives " << out;
}

LogicalResult AllGatherOp::verify() {
  auto shard = getX().getType(), whole = getResult().getType();
  return failure(
      failed(verifyTokens(*this, shard.getDimSize(0), whole.getDimSize(0))) ||
      failed(verifyShards(*this, shard.getDimSize(1), whole.getDimSize(1))));
}

LogicalResult OwnOp::verify() {
  auto whole = getX().getType(), shard = getResult().getType();
  return failure(
      failed(verifyTokens(*this, whole.getDimSize(0), shard.getDimSize(0))) ||
      failed(verifyShards(*this, shard.getDimSize(1), whole.getDimSize(1))));
}

LogicalResult ArgmaxOp::verify() {
  auto shard = getLogits().getType();
  return failure(failed(verifyTokens(*this, shard.getDimSize(0),
                                     getResult().getType().getDimSize(0))) ||
                 failed(verifyShards(*this, shard.getDimSize(1), getVocab())));
}

} // namespace orrery::grid
