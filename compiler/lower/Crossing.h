// How rows lie and travel where they leave a chip.
#pragma once

#include "compiler/lower/AxisLayout.h"
#include "compiler/lower/VectorBurst.h"

namespace orrery {

/// Ports are at the east edge.
inline constexpr int32_t kLinkSide = 1;

inline int64_t streams(flow::StreamType type) {
  return streamsOf(flow::machineType(type));
}
inline flow::StreamType typeOf(mlir::Value buffer) {
  return mlir::cast<flow::BufferType>(buffer.getType()).getType();
}
template <class Op> bool usedBy(mlir::Value value) {
  return llvm::any_of(value.getUsers(), [](mlir::Operation *user) {
    return mlir::isa<Op>(user);
  });
}

/// The lanes that place s of a shared vector changes; the last one clears what
/// is beyond.
inline flow::AccessAttr inPlace(flow::AccessAttr access,
                                const AxisLayout::Run &run, int32_t place,
                                const AxisLayout &axis) {
  if (run.sharing == 1) {
    return access;
  }
  int32_t low = run.lane(place), high = low + run.used;
  bool last = place % run.sharing == run.sharing - 1 || place == axis.ranks - 1;
  return withLanes(access, uint32_t(low), uint32_t(last ? axis.lanes : high));
}

} // namespace orrery
