// The flow dialect in C++: how a shard is computed. The .td files are its
// specification.
#pragma once

#include "machine/Instruction.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/flow/FlowDialect.h.inc"
#include "dialects/flow/FlowEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/flow/FlowTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/flow/FlowAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/flow/FlowOps.h.inc"

namespace orrery::flow {

/// The machine's form of an access, relative to a buffer at address `base`.
AddressPattern addressPattern(AccessAttr access, uint32_t base);
/// Vectors the access touches.
uint64_t vectorCount(AccessAttr access);
/// The least and the greatest vector it touches, without the dynamic term.
std::pair<int64_t, int64_t> staticRange(AccessAttr access);
/// The slices that memory of this type takes side by side, and the addresses
/// in each.
struct Extent {
  uint32_t slices, addresses;
};
Extent extentOf(mlir::Type memory);

inline orrery::StreamType machineType(StreamType t) {
  return static_cast<orrery::StreamType>(t);
}
inline WeightFormat machineFormat(Format f) {
  return static_cast<WeightFormat>(f);
}

} // namespace orrery::flow
