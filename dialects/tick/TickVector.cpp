// Checks of the ops in TickVector.td.
#include "dialects/tick/Tick.h"

using namespace mlir;

namespace orrery::tick {

LogicalResult VectorOp::verify() {
  if (getIn().size() > 8 || getOut().empty() || getOut().size() > 4) { // (C1)
    return emitOpError("takes ")
           << getIn().size() << " and drives " << getOut().size()
           << " stream groups, expected at most 8 and 1 to 4";
  }
  if (getCount() < 1) { // (C2)
    return emitOpError("takes at least 1 vector, found count 0");
  }
  return success();
}

LogicalResult PermuteOp::verify() {
  if (getWidth() < 1 || getOutWidth() < 1 || getCount() < 1) { // (C1)
    return emitOpError("has at least 1 of width, out_width and count, found ")
           << uint32_t(getWidth()) << ", " << uint32_t(getOutWidth()) << ", "
           << getCount();
  }
  const bool byMap = getKind() == PermuteKind::LaneMap;
  if (byMap != getMap().has_value()) { // (C2)
    return emitOpError(byMap ? "by lane_map names no lane map"
                             : "by transpose names a lane map");
  }
  const bool sameWidth = getOutWidth() == 1 || getOutWidth() == getWidth();
  if (byMap ? getRows() != 0 || !sameWidth : getRows() == 0) { // (C3)
    return emitOpError("has ")
           << getRows() << " rows and out_width " << uint32_t(getOutWidth())
           << (byMap ? ", expected 0 and 1 or width" : ", expected rows >= 1");
  }
  if (getSxm() > 1) { // (C4)
    return emitOpError("is on sxm ")
           << uint32_t(getSxm()) << ", expected 0 or 1";
  }
  return success();
}

} // namespace orrery::tick
