// Checks of the ops in TickMemory.td.
#include "dialects/tick/Tick.h"

using namespace mlir;

namespace orrery::tick {

template <class Op> static LogicalResult verifyBurst(Op op) {
  if (op.getWidth() < 1) { // (C1)
    return op.emitOpError("takes at least 1 slice, found width 0");
  }
  const uint64_t addresses = op.getAddress().count();
  const uint64_t vectors = op.getShape().count();
  if (addresses != vectors) { // (C2)
    return op.emitOpError("has ")
           << addresses << " addresses for " << vectors << " vectors";
  }
  return success();
}

LogicalResult ReadOp::verify() { return verifyBurst(*this); }

LogicalResult WriteOp::verify() {
  if (failed(verifyBurst(*this))) {
    return failure();
  }
  const bool range = getMask() == LaneMask::Range;
  if (range ? getLow() >= getHigh() : getLow() != 0 || getHigh() != 0) {
    return emitOpError("has mask ")
           << stringifyLaneMask(getMask()) << " with lanes " << getLow()
           << " to " << getHigh(); // (C3)
  }
  if (getTokenDimension() >= 3) { // (C4)
    return emitOpError("has token_dimension ")
           << uint32_t(getTokenDimension()) << ", expected 0 to 2";
  }
  if (getStripeBytes() == 0 && getStripeStep() != 0) { // (C5)
    return emitOpError("has a stripe_step but no stripe");
  }
  if (getStripeBytes() != 0 && !range && getMask() != LaneMask::All) { // (C6)
    return emitOpError("has stripes and mask ")
           << stringifyLaneMask(getMask()) << ", expected all or range";
  }
  return success();
}

} // namespace orrery::tick
