// Checks of the ops in FlowSwitch.td.
#include "dialects/flow/FlowChecks.h"

using namespace mlir;

namespace orrery::flow {

static LogicalResult verifyPermuteWrite(PermuteOp op, Value out,
                                        AccessAttr write) {
  StreamType type = elementOf(op.getInput());
  if (elementOf(out) != type) {
    return op.emitOpError("(C1) moves ")
           << stringifyStreamType(type) << " into a buffer of "
           << stringifyStreamType(elementOf(out));
  }
  if (vectorCount(write) != vectorCount(op.getRead())) {
    return op.emitOpError("(C2) reads ")
           << vectorCount(op.getRead()) << " vectors, writes "
           << vectorCount(write);
  }
  if (write.getStripeBytes() != 0) {
    return op.emitOpError("(C4) a write is striped");
  }
  return verifyInside(op, "C4", write, out.getType());
}

LogicalResult PermuteOp::verify() {
  if (elementOf(getInput()) == StreamType::A8) {
    return emitOpError("(C1) lanes of a8 cannot be moved apart from scales");
  }
  if (getOuts().empty() || getOuts().size() != getWrites().size()) {
    return emitOpError("(C2) one write a buffer, at least one");
  }
  for (auto [out, write] :
       llvm::zip_equal(getOuts(), getWrites().getAsRange<AccessAttr>())) {
    if (failed(verifyPermuteWrite(*this, out, write))) {
      return failure();
    }
  }
  auto lanes = int32_t(getMap().size());
  for (auto [lane, from] : llvm::enumerate(getMap())) {
    if (from < -1 || from >= lanes) {
      return emitOpError("(C3) lane ")
             << lane << " comes from lane " << from << " of " << lanes;
    }
  }
  return failure(
      failed(verifyInside(*this, "C4", getRead(), getInput().getType())) ||
      failed(verifyPlain(*this, "C4", getRead())) ||
      failed(verifySide(*this, "C5", getSide())));
}

LogicalResult TransposeOp::verify() {
  StreamType in = elementOf(getInput());
  auto tiles = cast<TilesType>(getOut().getType());
  bool same = (in == StreamType::I8 && tiles.getFormat() == Format::I8) ||
              (in == StreamType::F16 && tiles.getFormat() == Format::F16);
  if (!same) {
    return emitOpError("(C1) ")
           << stringifyStreamType(in) << " rows into "
           << stringifyFormat(tiles.getFormat()) << " tiles";
  }
  if (getTokens() < 1 || vectorCount(getRead()) != uint64_t(getTokens())) {
    return emitOpError("(C2) a read of ")
           << vectorCount(getRead()) << " vectors for " << getTokens()
           << " tokens";
  }
  if (int64_t(getRows()) != int64_t(tiles.getRows())) {
    return emitOpError("(C3) ")
           << getRows() << " rows into tiles of " << tiles.getRows();
  }
  return failure(
      failed(verifyInside(*this, "C4", getRead(), getInput().getType())) ||
      failed(verifyPlain(*this, "C4", getRead())) ||
      failed(verifySide(*this, "C5", getSide())));
}

} // namespace orrery::flow
