// Checks of the op in LlmLinear.td.
#include "dialects/llm/Llm.h"

using namespace mlir;

namespace orrery::llm {

LogicalResult LinearOp::verify() {
  const int64_t in = getX().getType().getDimSize(0);
  const int64_t out = getResult().getType().getDimSize(0);
  if (in != out) { // (C2)
    return emitOpError("takes ") << in << " rows but gives " << out;
  }
  return success();
}

} // namespace orrery::llm
