// Checks of the ops in FlowLinks.td.
#include "dialects/flow/FlowChecks.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace orrery::flow {

static bool isLink(int64_t number) { return number >= 1 && number <= 255; }

LogicalResult LinkSendOp::verify() {
  llvm::SmallSet<int32_t, 8> seen;
  for (int32_t link : getLinks()) {
    if (!isLink(link) || !seen.insert(link).second) {
      return emitOpError("(C1) link ") << link << " is not 1 to 255 or is "
                                       << "named twice";
    }
  }
  if (seen.empty()) {
    return emitOpError("(C1) needs at least one link");
  }
  return failure(
      failed(verifyInside(*this, "C2", getRead(), getInput().getType())) ||
      failed(verifyPlain(*this, "C2", getRead())));
}

static LogicalResult verifyWrite(LinkReceiveOp op, Value out,
                                 AccessAttr write) {
  auto first = cast<AccessAttr>(op.getWrites()[0]);
  if (vectorCount(write) != vectorCount(first) ||
      elementOf(out) != elementOf(op.getOuts()[0])) {
    return op.emitOpError("(C2) writes of ")
           << vectorCount(first) << " and " << vectorCount(write)
           << " vectors, or of different types";
  }
  if (write.getStripeBytes() != 0) {
    return op.emitOpError("(C3) a write is striped");
  }
  if (elementOf(out) == StreamType::A8 && write.getMask() == Mask::Range &&
      (write.getLow() % 32 != 0 || write.getHigh() % 32 != 0)) {
    return op.emitOpError("(C4) lanes ")
           << write.getLow() << " to " << write.getHigh() << " of a8";
  }
  return verifyInside(op, "C3", write, out.getType());
}

LogicalResult LinkReceiveOp::verify() {
  if (!isLink(getLink())) {
    return emitOpError("(C1) link ") << getLink() << " is not 1 to 255";
  }
  if (getOuts().empty() || getOuts().size() != getWrites().size()) {
    return emitOpError("(C2) one write a buffer, at least one");
  }
  for (int64_t lane : {getFrom(), getTo(), getLanes()}) {
    if (lane < 0 || lane % 32 != 0) {
      return emitOpError("(C4) lane ") << lane << " is no multiple of 32";
    }
  }
  for (auto [out, write] :
       llvm::zip_equal(getOuts(), getWrites().getAsRange<AccessAttr>())) {
    if (failed(verifyWrite(*this, out, write))) {
      return failure();
    }
  }
  return success();
}

} // namespace orrery::flow
