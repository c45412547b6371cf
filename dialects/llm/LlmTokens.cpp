// Checks of the ops in LlmTokens.td.
#include "dialects/llm/Llm.h"

using namespace mlir;

namespace orrery::llm {

LogicalResult EmbedOp::verify() {
  const int64_t tokens = getIds().getType().getDimSize(0);
  const int64_t rows = getResult().getType().getDimSize(0);
  if (tokens != rows) { // (C2)
    return emitOpError("has ") << tokens << " ids but " << rows << " rows";
  }
  return success();
}

LogicalResult ArgmaxOp::verify() {
  const int64_t rows = getLogits().getType().getDimSize(0);
  const int64_t tokens = getResult().getType().getDimSize(0);
  if (tokens != rows) { // (C2)
    return emitOpError("has ") << rows << " rows but " << tokens << " ids";
  }
  return success();
}

} // namespace orrery::llm
