// Checks of the ops in TickHost.td.
#include "dialects/tick/Tick.h"

using namespace mlir;

namespace orrery::tick {

LogicalResult ReceiveOp::verify() {
  if (getStop() < 0) { // (C1)
    return emitOpError("has stop ") << getStop() << ", expected >= 0";
  }
  return success();
}

} // namespace orrery::tick
