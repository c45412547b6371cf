// Checks and folds of the ops in LlmAttention.td.
#include "dialects/llm/Llm.h"

using namespace mlir;

namespace orrery::llm {

/// Checks that rows called `what` are `heads` heads of `headDim` wide.
static LogicalResult verifyWidth(Operation *op, StringRef what,
                                 RankedTensorType rows, int64_t heads,
                                 int64_t headDim) {
  const int64_t width = rows.getDimSize(1);
  // Division, since heads * headDim may overflow.
  if (width % headDim == 0 && width / headDim == heads) {
    return success();
  }
  return op->emitOpError() << "has " << what << " of width " << width
                           << ", expected " << heads << " heads of " << headDim;
}

LogicalResult RopeOp::verify() {
  if (failed(verifyWidth(*this, "rows", getX().getType(), getHeads(),
                         getHeadDim()))) { // (C3)
    return failure();
  }
  if (getRopeDim() % 2 != 0 || getRopeDim() > getHeadDim()) { // (C4)
    return emitOpError("needs an even rope_dim of at most head_dim ")
           << getHeadDim() << ", found " << getRopeDim();
  }
  if (!getTheta().isFinite() || getTheta().isNegative() ||
      getTheta().isZero()) { // (C5)
    return emitOpError("needs a finite, positive theta, found ")
           << getThetaAttr();
  }
  return success();
}

OpFoldResult RopeOp::fold(FoldAdaptor) {
  return getRopeDim() == 0 ? getX() : Value();
}

LogicalResult AttentionOp::verify() {
  const int64_t tokens = getQ().getType().getDimSize(0);
  const int64_t kvTokens = getK().getType().getDimSize(0);
  if (tokens != kvTokens) { // (C3)
    return emitOpError("has ")
           << tokens << " rows of q but " << kvTokens << " of k and v";
  }
  if (failed(verifyWidth(*this, "q", getQ().getType(), getHeads(),
                         getHeadDim())) || // (C4)
      failed(verifyWidth(*this, "k and v", getK().getType(), getKvHeads(),
                         getHeadDim()))) { // (C5)
    return failure();
  }
  if (getHeads() % getKvHeads() != 0) { // (C6)
    return emitOpError("needs kv_heads that divide heads, found ")
           << getKvHeads() << " and " << getHeads();
  }
  if ((*this).getContextAttr().getInt() < tokens) { // (C8)
    return emitOpError("has room for ")
           << getContextAttr().getInt() << " positions but takes " << tokens
           << " tokens";
  }
  return success();
}

} // namespace orrery::llm
