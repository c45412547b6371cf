// Checks of the ops in FlowHost.td.
#include "dialects/flow/FlowChecks.h"

using namespace mlir;

namespace orrery::flow {

static std::optional<int64_t> tokensOf(mlir::Operation *op) {
  auto program = op->getParentOfType<ProgramOp>();
  return program ? std::optional(int64_t(program.getTokens())) : std::nullopt;
}

static LogicalResult verifyRope(ReceiveOp op) {
  auto theta = op.getRopeTheta();
  auto dim = int64_t(op.getRopeDim());
  if (!op.getRope()) {
    return !theta && dim == 0 && !op.getRopeHalf()
               ? success()
               : op.emitOpError("(C3) only rope rows have theta and turning");
  }
  bool named = *op.getRope() == "cos" || *op.getRope() == "sin";
  if (!named || !theta || !theta->isFinite() || theta->isNegative() ||
      theta->isZero() || dim < 2 || dim % 2 != 0 ||
      dim > int64_t(op.getRowsAttr().getHeadDim())) {
    return op.emitOpError("(C3) needs cos or sin, heads, a finite, positive "
                          "theta and an even number of turning elements up to "
                          "head_dim");
  }
  return success();
}

LogicalResult ReceiveOp::verify() {
  int64_t vectors = cast<BufferType>(getOut().getType()).getVectors();
  auto tokens = tokensOf(*this);
  if (tokens && *tokens > 0 && vectors % *tokens != 0) {
    return emitOpError("(C2) ")
           << vectors << " vectors for " << *tokens << " tokens";
  }
  return failure(failed(verifyF32(*this, "C1", getOut())) ||
                 failed(verifyRope(*this)));
}

LogicalResult SendOp::verify() { return verifyF32(*this, "C1", getInput()); }

LogicalResult LogitsOp::verify() {
  int64_t vectors = cast<BufferType>(getBuffer().getType()).getVectors();
  auto tokens = tokensOf(*this);
  if (getVectors() < 1 || getVocab() < 1 ||
      (tokens && vectors != *tokens * getVectors())) {
    return emitOpError("(C2) ")
           << getVocab() << " logits in " << getVectors()
           << " vectors a token do not match a buffer of " << vectors;
  }
  return verifyF32(*this, "C1", getBuffer());
}

} // namespace orrery::flow
