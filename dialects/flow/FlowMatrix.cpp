// Checks of the ops in FlowMatrix.td.
#include "dialects/flow/FlowChecks.h"

using namespace mlir;

namespace orrery::flow {

LogicalResult LoadOp::verify() {
  StreamType type = elementOf(getInput());
  if (type != StreamType::A8 && type != StreamType::F16) {
    return emitOpError("(C1) activations are a8 or f16, found ")
           << stringifyStreamType(type);
  }
  if (getRows() < 1 || getInner() < 1 ||
      vectorCount(getRead()) != uint64_t(getRows()) * getInner()) {
    return emitOpError("(C2) a read of ")
           << vectorCount(getRead()) << " vectors for " << getInner()
           << " times " << getRows() << " rows";
  }
  return failure(
      failed(verifyInside(*this, "C3", getRead(), getInput().getType())) ||
      failed(verifyPlain(*this, "C3", getRead())) ||
      failed(verifySide(*this, "C4", getSide())));
}

static LogicalResult verifyTiles(MatmulOp op, LoadOp load) {
  auto weights = cast<TilesType>(op.getWeights().getType());
  if (op.getLow() < 0 ||
      int64_t(op.getHigh()) - op.getLow() != int64_t(weights.getRows())) {
    return op.emitOpError("(C1) lanes ")
           << op.getLow() << " to " << op.getHigh() << " for tiles of "
           << weights.getRows() << " rows";
  }
  int64_t used = op.getFirst() + int64_t(op.getTiles()) * load.getInner();
  if (op.getFirst() < 0 || used > int64_t(weights.getTiles())) {
    return op.emitOpError("(C3) passes use tiles ")
           << op.getFirst() << " to " << used - 1 << " of "
           << weights.getTiles();
  }
  bool half = elementOf(load.getInput()) == StreamType::F16;
  if (half != (weights.getFormat() == Format::F16)) {
    return op.emitOpError("(C4) ")
           << stringifyStreamType(elementOf(load.getInput())) << " rows times "
           << stringifyFormat(weights.getFormat()) << " tiles";
  }
  return success();
}

static LogicalResult verifyPlane(MatmulOp op, LoadOp load) {
  auto region = op.getWeights().getDefiningOp<RegionOp>();
  if (region && region.getSide() != load.getSide()) {
    auto error = op.emitOpError("(C6) weights lie on side ")
                 << region.getSide() << ", rows were loaded on side "
                 << load.getSide();
    error.attachNote(region.getLoc()) << "the weights";
    error.attachNote(load.getLoc()) << "the load";
    return error;
  }
  if (op.getPlane() < 0) {
    return op.emitOpError("(C7) plane ") << op.getPlane() << " is negative";
  }
  return success();
}

LogicalResult MatmulOp::verify() {
  auto load = getLoaded().getDefiningOp<LoadOp>();
  if (!load) {
    return emitOpError("(C8) rows come from a flow.load");
  }
  if (failed(verifyTiles(*this, load))) {
    return failure();
  }
  if (getTiles() < 1 ||
      vectorCount(getWrite()) != uint64_t(getTiles()) * load.getRows()) {
    return emitOpError("(C2) a write of ")
           << vectorCount(getWrite()) << " vectors for " << getTiles()
           << " tiles of " << load.getRows() << " rows";
  }
  if (getWrite().getStripeBytes() != 0) {
    return emitOpError("(C5) the write is striped");
  }
  if (elementOf(getOut()) != StreamType::Sum &&
      failed(verifyF32(*this, "C5", getOut()))) {
    return failure();
  }
  return failure(
      failed(verifyInside(*this, "C5", getWrite(), getOut().getType())) ||
      failed(verifyPlane(*this, load)));
}

} // namespace orrery::flow
