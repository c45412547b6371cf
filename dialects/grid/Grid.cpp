// Registration and verifiers of the grid dialect; labels as in GridOps.td.
#include "dialects/grid/Grid.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallSet.h"

#include "dialects/grid/GridDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/grid/GridOps.cpp.inc"

using namespace mlir;

namespace orrery::grid {

void GridDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/grid/GridOps.cpp.inc"
      >();
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
  if (getWeightBytes() + getKvBytes() > getCapacityBytes()) {
    return emitOpError("(C2) weights ")
           << getWeightBytes() << " B + KV " << getKvBytes()
           << " B exceed the capacity of " << getCapacityBytes() << " B";
  }
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().getTypes() != getResultTypes()) {
    return emitOpError("(C3) results differ from the yielded values");
  }
  for (mlir::Operation &op : getBody().front()) {
    if (isa<StageOp>(op)) {
      return emitOpError("(C4) a stage inside a stage");
    }
  }
  return success();
}

} // namespace orrery::grid
