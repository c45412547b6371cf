// Checks of allocs and regions.
#include "dialects/flow/FlowChecks.h"

using namespace mlir;

namespace orrery::flow {

LogicalResult AllocOp::verify() {
  if (getSide() < -1 || getSide() > 1) {
    return emitOpError("(C1) side is -1, 0 or 1, found ") << getSide();
  }
  return success();
}

// "rope.cos" and "rope.sin" are made from a formula, all else from the model.
static LogicalResult verifyRope(RegionOp op) {
  bool rope = op.getKind() == Kind::Table &&
              (op.getName() == "rope.cos" || op.getName() == "rope.sin");
  if (!rope) {
    bool none = !op.getRopeTheta() && op.getRopeDim() == 0 && !op.getRopeHalf();
    return none ? success()
                : op.emitOpError("(C5) only rope.cos and rope.sin have RoPE "
                                 "attributes");
  }
  auto theta = op.getRopeTheta();
  auto dim = int64_t(op.getRopeDim());
  if (!theta || !theta->isFinite() || theta->isNegative() || theta->isZero() ||
      dim < 2 || dim % 2 != 0 || dim > int64_t(op.getRowsAttr().getHeadDim())) {
    return op.emitOpError("(C5) needs a finite, positive theta and an even "
                          "number of turning elements, 2 to ")
           << op.getRowsAttr().getHeadDim();
  }
  return success();
}

LogicalResult RegionOp::verify() {
  auto buffer = dyn_cast<BufferType>(getMemory().getType());
  if ((getKind() == Kind::Weight && buffer) ||
      (getKind() == Kind::Table &&
       (!buffer || buffer.getType() != StreamType::F32))) {
    return emitOpError("(C1) a weight region is tiles, a table an f32 buffer");
  }
  if (bool(getRows()) != (getKind() != Kind::Kv) ||
      bool(getColumns()) != (getKind() == Kind::Weight)) {
    return emitOpError("(C2) a weight region has rows and columns, a table "
                       "rows, a KV region neither");
  }
  if (getSide() < (buffer ? -1 : 0) || getSide() > 1) {
    return emitOpError("(C3) side ")
           << getSide() << " for " << getMemory().getType();
  }
  bool weight = getKind() == Kind::Weight;
  if (getFirst() < 0 || getLow() < 0 ||
      (!weight && (getFirst() != 0 || getLow() != 0))) {
    return emitOpError("(C4) first ")
           << getFirst() << " and low " << getLow() << " of a "
           << stringifyKind(getKind()) << " region";
  }
  if (getName().empty()) {
    return emitOpError("(C6) needs a name");
  }
  return verifyRope(*this);
}

} // namespace orrery::flow
