// Checks of the ops in LlmElementwise.td; shapes are traits.
#include "dialects/llm/Llm.h"

using namespace mlir;

namespace orrery::llm {

LogicalResult RmsNormOp::verify() {
  if (!getEps().isFinite() || getEps().isNegative()) { // (C4)
    return emitOpError("needs a finite eps of at least 0, found ")
           << getEpsAttr();
  }
  return success();
}

} // namespace orrery::llm
