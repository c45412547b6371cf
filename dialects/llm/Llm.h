// The llm dialect in C++: what a decoder step computes. The .td files beside
// this one are its specification.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/llm/LlmDialect.h.inc"
#include "dialects/llm/LlmEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/llm/LlmAttrs.h.inc"

namespace orrery::llm {

/// [T, n] f32 of static shape, both at least 1.
bool isRows(mlir::RankedTensorType type);

/// [T] i32 of static shape, T at least 1.
bool isIds(mlir::RankedTensorType type);

/// What attention ops read and write besides their operands.
struct KvCacheResource : mlir::SideEffects::Resource::Base<KvCacheResource> {
  llvm::StringRef getName() final { return "llm.kv_cache"; }
};

inline constexpr llvm::StringLiteral kTokensAttr = "llm.tokens";
inline constexpr llvm::StringLiteral kBucketAttr = "llm.bucket";
inline constexpr llvm::StringLiteral kContextAttr = "llm.context";
inline constexpr llvm::StringLiteral kModelAttr = "llm.model";

/// The attributes of a step function.
struct StepInfo {
  int64_t tokens = 0;
  int64_t bucket = 0;
  int64_t context = 0;
  llvm::StringRef model;
};

/// True when `function` carries the attributes of a step.
bool isStep(mlir::func::FuncOp function);

/// The attributes of a verified step.
StepInfo stepInfo(mlir::func::FuncOp step);

/// Makes `function` a step.
void setStepInfo(mlir::func::FuncOp function, const StepInfo &info);

} // namespace orrery::llm

#define GET_OP_CLASSES
#include "dialects/llm/LlmOps.h.inc"
