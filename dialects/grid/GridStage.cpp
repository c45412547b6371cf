// Checks of the ops in GridStage.td.
#include "dialects/grid/Grid.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace orrery::grid {

LogicalResult StageOp::verify() {
  llvm::SmallSet<int32_t, 8> seen;
  for (int32_t chip : getChips()) {
    if (chip < 0 || !seen.insert(chip).second) {
      return emitOpError("(C1) chip ") << chip << " is negative or named twice";
    }
  }
  if (seen.empty()) {
    return emitOpError("(C1) needs at least one chip");
  }
  if (getWeightBytes() < 0 || getKvBytes() < 0 ||
      getWeightBytes() > getCapacityBytes() ||
      getKvBytes() > getCapacityBytes() - getWeightBytes()) {
    return emitOpError("(C2) weights of ")
           << getWeightBytes() << " B and KV of " << getKvBytes()
           << " B do not fit the capacity of " << getCapacityBytes() << " B";
  }
  if (getFirstLayer() < 0) {
    return emitOpError("(C5) first layer ")
           << getFirstLayer() << " is negative";
  }
  if (getRing() && getTp() < 3) {
    return emitOpError("(C6) a ring has at least 3 chips, found ") << getTp();
  }
  return success();
}

LogicalResult StageOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().getTypes() != getResultTypes()) {
    return emitOpError("(C3) results differ from the yielded values");
  }
  bool nested = getBody()
                    .walk([](StageOp) { return WalkResult::interrupt(); })
                    .wasInterrupted();
  return nested ? emitOpError("(C4) a stage inside a stage") : success();
}

} // namespace orrery::grid
