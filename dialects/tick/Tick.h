// The tick dialect in C++: when each instruction of a chip is issued. The .td
// files beside this one are its specification.
#pragma once

#include "machine/Program.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/Hashing.h"

#include <bit>

// Found by argument-dependent lookup when the attributes that wrap these
// structs are uniqued.
namespace orrery {
llvm::hash_code hash_value(const BurstShape &shape);
llvm::hash_code hash_value(const AddressPattern &address);
llvm::hash_code hash_value(const StreamRef &stream);
llvm::hash_code hash_value(const StreamOut &out);
llvm::hash_code hash_value(const LogitsPlace &place);
llvm::hash_code hash_value(const AluStep &step);
llvm::hash_code hash_value(const VectorOutput &output);
} // namespace orrery

namespace orrery::tick {

/// Equality of steps with the immediate taken as bits.
bool sameBits(const AluStep &a, const AluStep &b);

} // namespace orrery::tick

#include "dialects/tick/TickDialect.h.inc"
#include "dialects/tick/TickEnums.h.inc"
#include "dialects/tick/TickInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tick/TickAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/tick/TickOps.h.inc"
