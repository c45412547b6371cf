#include "dialects/flow/FlowChecks.h"

#include "machine/Timing.h"

using namespace mlir;

namespace orrery::flow {

Extent extentOf(Type memory) {
  if (auto buffer = dyn_cast<BufferType>(memory)) {
    return {uint32_t(streamsOf(machineType(buffer.getType()))),
            buffer.getVectors()};
  }
  auto tiles = cast<TilesType>(memory);
  return {tiles.getWidth(),
          tiles.getTiles() * tileCycles(machineFormat(tiles.getFormat()),
                                        tiles.getRows(), tiles.getWidth())};
}

LogicalResult verifyInside(mlir::Operation *op, StringRef label,
                           AccessAttr access, Type memory) {
  auto [low, high] = staticRange(access);
  if (access.getDynamic() == Dynamic::Position) {
    if (auto program = op->getParentOfType<ProgramOp>()) {
      high +=
          int64_t(access.getDynamicStep()) * int64_t(program.getBucket() - 1);
    }
  }
  int64_t have = extentOf(memory).addresses;
  if (low < 0 || high >= have) {
    return op->emitOpError() << "(" << label << ") touches vectors " << low
                             << " to " << high << " of " << have;
  }
  return success();
}

LogicalResult verifyPlain(mlir::Operation *op, StringRef label,
                          AccessAttr access) {
  if (access.getMask() != Mask::All || access.getTokenDim() != 0 ||
      access.getStripeBytes() != 0) {
    return op->emitOpError() << "(" << label
                             << ") a read names no lanes, tokens or stripes, "
                                "found "
                             << access;
  }
  return success();
}

LogicalResult verifySide(mlir::Operation *op, StringRef label, int64_t side) {
  if (side != 0 && side != 1) {
    return op->emitOpError()
           << "(" << label << ") side is 0 or 1, found " << side;
  }
  return success();
}

LogicalResult verifyF32(mlir::Operation *op, StringRef label, Value buffer) {
  if (elementOf(buffer) != StreamType::F32) {
    return op->emitOpError() << "(" << label << ") expected f32, found "
                             << stringifyStreamType(elementOf(buffer));
  }
  return success();
}

} // namespace orrery::flow
