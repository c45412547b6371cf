// Checks of the op in TickFetch.td.
#include "dialects/tick/Tick.h"

using namespace mlir;

namespace orrery::tick {

LogicalResult FetchOp::verify() {
  const bool single =
      getQueue() == QueueKind::Vector || getQueue() == QueueKind::Fetch;
  if (single && getNumber() != 0) { // (C1)
    return emitOpError("has queue ") << stringifyQueueKind(getQueue()) << " "
                                     << getNumber() << ", expected number 0";
  }
  return success();
}

} // namespace orrery::tick
