// Checks of #grid.shard and of where it may stand, (A1) and (A2) of
// GridDialect.td.
#include "dialects/grid/Grid.h"

using namespace mlir;

namespace orrery::grid {

LogicalResult
ShardAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  int64_t elements, int64_t of, int64_t replicas) {
  if (elements < 1 || of < 1 || replicas < 1) { // (C1)
    return emitError() << "(C1) a shard needs elements, rows and replicas of "
                          "at least 1, found "
                       << elements << " of " << of << " replicas " << replicas;
  }
  return success();
}

ShardAttr shardOf(llm::LinearOp op) {
  return op->getAttrOfType<ShardAttr>(kShardAttr);
}

ShardAttr resultShard(func::FuncOp step, unsigned index) {
  return step.getResultAttrOfType<ShardAttr>(index, kShardAttr);
}

static bool isRowsOf(Type type, int64_t width) {
  auto rows = dyn_cast<RankedTensorType>(type);
  return rows && llm::isRows(rows) && rows.getDimSize(1) == width;
}

LogicalResult GridDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kColumnsAttr) {
    return verifyColumns(op, attribute.getValue());
  }
  if (attribute.getName() != kShardAttr) {
    return success();
  }
  auto shard = dyn_cast<ShardAttr>(attribute.getValue());
  if (!shard || !isa<llm::LinearOp>(op)) { // (A1)
    return op->emitOpError("(A1) '")
           << kShardAttr << "' is a #grid.shard on an llm.linear, found "
           << attribute.getValue();
  }
  // Runs before the op's own checks: there may be no result yet.
  if (op->getNumResults() != 1 ||
      !isRowsOf(op->getResult(0).getType(), shard.getElements())) { // (A1)
    return op->emitOpError("(A1) has a shard of ")
           << shard.getElements() << " rows, expected a result of that width, "
           << "found " << op->getResultTypes();
  }
  return success();
}

LogicalResult GridDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  if (attribute.getName() != kShardAttr) {
    return success();
  }
  auto shard = dyn_cast<ShardAttr>(attribute.getValue());
  auto function = dyn_cast<func::FuncOp>(op);
  if (!shard || shard.getReplicas() != 1 || !function ||
      !isRowsOf(function.getResultTypes()[index],
                shard.getElements())) { // (A2)
    return op->emitOpError("(A2) '")
           << kShardAttr << "' of result " << index
           << " is a #grid.shard without replicas, as wide as the rows, found "
           << attribute.getValue();
  }
  return success();
}

} // namespace orrery::grid
