// Checks of the ops in FlowHost.td.
#include "dialects/flow/FlowChecks.h"

using namespace mlir;

namespace orrery::flow {

static std::optional<int64_t> tokensOf(mlir::Operation *op) {
  auto program = op->getParentOfType<ProgramOp>();
  return program ? std::optional(int64_t(program.getTokens())) : std::nullopt;
}

LogicalResult ReceiveOp::verify() {
  int64_t vectors = cast<BufferType>(getOut().getType()).getVectors();
  auto tokens = tokensOf(*this);
  if (tokens && *tokens > 0 && vectors % *tokens != 0) {
    return emitOpError("(C2) ")
           << vectors << " vectors for " << *tokens << " tokens";
  }
  return verifyF32(*this, "C1", getOut());
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
