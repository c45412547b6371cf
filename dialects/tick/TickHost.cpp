// Checks of the ops in TickHost.td.
#include "dialects/tick/Tick.h"

using namespace mlir;

namespace orrery::tick {

template <class Op> static LogicalResult verifyLink(Op op, const char *label) {
  bool right = op.getLink() == kHostLink ? op.getWidth() == 4
                                         : op.getWidth() >= 1;
  return right ? success()
               : op.emitOpError("(")
                     << label << ") has link " << int(op.getLink())
                     << " with " << int(op.getWidth()) << " streams";
}

LogicalResult SendOp::verify() { return verifyLink(*this, "C1"); }

LogicalResult ReceiveOp::verify() {
  if (getStop() < 0) { // (C1)
    return emitOpError("has stop ") << getStop() << ", expected >= 0";
  }
  return verifyLink(*this, "C2");
}

} // namespace orrery::tick
