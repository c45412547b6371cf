// Checks of the ops in TickMatrix.td.
#include "dialects/tick/TickSyntax.h"

#include "machine/Timing.h"

using namespace mlir;

namespace orrery::tick {

LogicalResult LoadOp::verify() {
  if (getType() != StreamType::A8 && getType() != StreamType::F16) { // (C1)
    return emitOpError("loads a8 or f16, found ")
           << stringifyStreamType(getType());
  }
  const uint64_t entries = getBase() + getShape().count();
  if (entries > 65536) { // (C2)
    return emitOpError("loads entry ") << entries - 1 << ", expected < 65536";
  }
  return success();
}

static bool hasScales(WeightFormat format) {
  return format == WeightFormat::Q8 || format == WeightFormat::Q4;
}

template <class Op> static LogicalResult verifyColumns(Op op) {
  if (op.getLow() >= op.getHigh()) { // (C1)
    return op.emitOpError("has columns ")
           << op.getLow() << " to " << op.getHigh() << ", expected low < high";
  }
  return success();
}

template <class Op> static LogicalResult verifyScales(Op op) {
  const uint32_t rows = op.getHigh() - op.getLow();
  if (hasScales(op.getFormat()) &&
      rows % 16 != 0) { // install (C3), matmul (C4)
    return op.emitOpError("has ")
           << rows << " rows in " << stringifyWeightFormat(op.getFormat())
           << ", expected a multiple of 16";
  }
  return success();
}

LogicalResult InstallOp::verify() {
  if (failed(verifyColumns(*this))) {
    return failure();
  }
  if (getWidth() < 1) { // (C2)
    return emitOpError("takes at least 1 stream, found width 0");
  }
  if (failed(verifyScales(*this))) {
    return failure();
  }
  const auto format = fromWord<orrery::WeightFormat>(getFormat());
  const uint32_t cycles = tileCycles(format, getHigh() - getLow(), getWidth());
  const uint32_t length = getShape().length;
  if (length < cycles) { // (C4)
    return emitOpError("has runs of ")
           << length << " cycles, a tile takes " << cycles;
  }
  return success();
}

LogicalResult MatmulOp::verify() {
  if (failed(verifyColumns(*this))) {
    return failure();
  }
  if (getTiles() < 1 || getInner() < 1 || getRows() < 1) { // (C2)
    return emitOpError("has at least 1 of tiles, inner and rows, found ")
           << getTiles() << ", " << getInner() << ", " << getRows();
  }
  const bool single = getTiles() == 1 && getInner() == 1;
  if (!single && getPeriod() < getRows()) { // (C3)
    return emitOpError("starts a pass every ")
           << getPeriod() << " ticks, one takes at least " << getRows();
  }
  if (failed(verifyScales(*this))) {
    return failure();
  }
  if (getStop() < 0) { // (C5)
    return emitOpError("has stop ") << getStop() << ", expected >= 0";
  }
  return success();
}

} // namespace orrery::tick
