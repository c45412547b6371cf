// Checks of the ops in GridPartials.td and of `grid.columns`, (A3) of
// GridDialect.td.
#include "dialects/grid/Grid.h"

using namespace mlir;

namespace orrery::grid {

ShardAttr columnsOf(llm::LinearOp op) {
  return op->getAttrOfType<ShardAttr>(kColumnsAttr);
}

llm::LinearOp partialProduct(Value partial) {
  auto product = partial.getDefiningOp<llm::LinearOp>();
  return product && columnsOf(product) ? product : llm::LinearOp();
}

static LogicalResult verifyPartial(mlir::Operation *op, Value partial) {
  if (!partialProduct(partial)) { // (C1)
    return op->emitOpError("(C1) takes a partial, the result of an llm.linear "
                           "with '")
           << kColumnsAttr << "'";
  }
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyPartial(*this, getPartial()))) {
    return failure();
  }
  auto whole = getPartial().getType(), shard = getResult().getType();
  if (whole.getDimSize(0) != shard.getDimSize(0)) { // (C2)
    return emitOpError("(C2) takes ")
           << whole.getDimSize(0) << " rows but gives " << shard.getDimSize(0);
  }
  int64_t each = shard.getDimSize(1), all = whole.getDimSize(1);
  if (each % 32 != 0) { // (C3)
    return emitOpError("(C3) has a shard of ")
           << each << ", expected a multiple of 32";
  }
  int64_t ranks = cast<StageOp>((*this)->getParentOp()).getTp();
  if ((all + each - 1) / each > ranks) { // (C4)
    return emitOpError("(C4) has ")
           << ranks << " shards of " << each << " for " << all << " elements";
  }
  return success();
}

LogicalResult AllReduceOp::verify() {
  return verifyPartial(*this, getPartial());
}

// Runs before the op's own checks: there may be no operand or result yet.
LogicalResult verifyColumns(mlir::Operation *op, Attribute value) {
  auto shard = dyn_cast<ShardAttr>(value);
  if (!shard || shard.getReplicas() != 1 || shard.getElements() % 32 != 0 ||
      !isa<llm::LinearOp>(op) || op->hasAttr(kShardAttr)) { // (A3)
    return op->emitOpError("(A3) '")
           << kColumnsAttr
           << "' is a #grid.shard of blocks of 32 without replicas, on an "
              "llm.linear without '"
           << kShardAttr << "', found " << value;
  }
  auto x = op->getNumOperands() == 1
               ? dyn_cast<RankedTensorType>(op->getOperand(0).getType())
               : RankedTensorType();
  if (!x || x.getRank() != 2 ||
      x.getDimSize(1) != shard.getElements()) { // (A3)
    return op->emitOpError("(A3) takes columns in shards of ")
           << shard.getElements() << ", expected rows of that width, found "
           << op->getOperandTypes();
  }
  bool added =
      op->getNumResults() == 1 && op->getResult(0).hasOneUse() &&
      isa<ReduceScatterOp, AllReduceOp>(*op->getResult(0).user_begin());
  if (!added) { // (A3)
    return op->emitOpError("(A3) gives a partial, expected one "
                           "grid.reduce_scatter or grid.all_reduce to add it");
  }
  return success();
}

} // namespace orrery::grid
