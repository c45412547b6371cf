// Checks of the ops in GridStage.td.
#include "dialects/grid/Grid.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace orrery::grid {

/// The stage that hands values on to this one; null: it is the first.
static StageOp stageBefore(StageOp stage) {
  mlir::Operation *before = stage->getPrevNode();
  while (before && !isa<StageOp>(before)) {
    before = before->getPrevNode();
  }
  return dyn_cast_or_null<StageOp>(before);
}

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
  StageOp before = stageBefore(*this);
  if (getCables() < 1 || (before && before.getCables() != getCables())) {
    return emitOpError("(C8) needs at least one cable, and as many as the "
                       "stage before; found ")
           << getCables();
  }
  return success();
}

bool StageOp::isRelay() {
  mlir::Operation *yield = getBody().front().getTerminator();
  return llvm::hasSingleElement(getBody().front()) &&
         yield->getNumOperands() > 0 &&
         llvm::all_of(yield->getOperands(), [](Value value) {
           return value.getDefiningOp<StageOp>() != nullptr;
         });
}

/// An operand in the body that is no value of the stage before.
static Value fromElsewhere(StageOp stage) {
  StageOp before = stageBefore(stage);
  Value found;
  stage.getBody().walk([&](mlir::Operation *op) {
    for (Value operand : op->getOperands()) {
      auto other = operand.getDefiningOp<StageOp>();
      if (other && other != before) {
        found = operand;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return found;
}

LogicalResult StageOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().getTypes() != getResultTypes()) {
    return emitOpError("(C3) results differ from the yielded values");
  }
  bool nested = getBody()
                    .walk([](StageOp) { return WalkResult::interrupt(); })
                    .wasInterrupted();
  if (nested) {
    return emitOpError("(C4) a stage inside a stage");
  }
  if (Value value = fromElsewhere(*this)) {
    auto error = emitOpError("(C7) takes a value of a stage that is not the "
                             "one before it");
    error.attachNote(value.getLoc()) << "the value";
    return error;
  }
  return success();
}

} // namespace orrery::grid
