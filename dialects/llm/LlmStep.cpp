// The function that is a token step: its attributes and constraints (S1)-(S6),
// written down in LlmDialect.td.
#include "dialects/llm/Llm.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace orrery::llm {

static constexpr StringLiteral kStepAttrs[] = {kTokensAttr, kBucketAttr,
                                               kContextAttr, kModelAttr};

bool isStep(func::FuncOp function) { return function->hasAttr(kTokensAttr); }

static int64_t sizeAttr(func::FuncOp step, StringRef name) {
  return step->getAttrOfType<IntegerAttr>(name).getInt();
}

StepInfo stepInfo(func::FuncOp step) {
  return {sizeAttr(step, kTokensAttr), sizeAttr(step, kBucketAttr),
          sizeAttr(step, kContextAttr),
          step->getAttrOfType<StringAttr>(kModelAttr).getValue()};
}

void setStepInfo(func::FuncOp function, const StepInfo &info) {
  Builder builder(function->getContext());
  function->setAttr(kTokensAttr, builder.getI64IntegerAttr(info.tokens));
  function->setAttr(kBucketAttr, builder.getI64IntegerAttr(info.bucket));
  function->setAttr(kContextAttr, builder.getI64IntegerAttr(info.context));
  function->setAttr(kModelAttr, builder.getStringAttr(info.model));
}

// (S1)
static LogicalResult verifyAttributes(Operation *op) {
  for (StringRef name : {kTokensAttr, kBucketAttr, kContextAttr}) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    if (!attr || !attr.getType().isSignlessInteger(64)) {
      return op->emitOpError() << "is a step and needs an i64 '" << name << "'";
    }
  }
  if (!op->getAttrOfType<StringAttr>(kModelAttr)) {
    return op->emitOpError()
           << "is a step and needs a string '" << kModelAttr << "'";
  }
  return success();
}

// (S2)
static LogicalResult verifySizes(func::FuncOp step, const StepInfo &info) {
  if (info.tokens < 1 || info.bucket < info.tokens ||
      info.context < info.bucket) {
    return step.emitOpError("needs 1 <= tokens <= bucket <= context, found ")
           << info.tokens << ", " << info.bucket << ", " << info.context;
  }
  return success();
}

static bool hasTokens(Type type, int64_t tokens,
                      bool (*kind)(RankedTensorType)) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && kind(tensor) && tensor.getDimSize(0) == tokens;
}

static LogicalResult verifySignature(func::FuncOp step, int64_t tokens) {
  FunctionType type = step.getFunctionType();
  if (type.getNumInputs() != 1 || !hasTokens(type.getInput(0), tokens, isIds)) {
    return step.emitOpError("takes the step's ids, tensor<")
           << tokens << "xi32>, found " << type.getInputs(); // (S3)
  }
  const unsigned results = type.getNumResults();
  if (results < 1 || results > 2 ||
      !hasTokens(type.getResult(0), tokens, isRows) ||
      (results == 2 && !hasTokens(type.getResult(1), tokens, isIds))) {
    return step.emitOpError("returns logits [")
           << tokens << ", n] f32 and at most ids [" << tokens
           << "] i32, found " << type.getResults(); // (S4)
  }
  return success();
}

// Runs before the ops inside are verified, so their attributes may be missing.
static LogicalResult verifyCaches(func::FuncOp step, int64_t context) {
  DenseMap<int64_t, AttentionOp> ownerOfLayer;
  auto result = step.walk([&](AttentionOp op) -> WalkResult {
    if (!op.getContextAttr() || !op.getLayerAttr()) {
      return WalkResult::advance();
    }
    if (op.getContextAttr().getInt() != context) { // (S5)
      InFlightDiagnostic error = op.emitOpError("has context ");
      error << op.getContextAttr().getInt();
      error.attachNote(step.getLoc()) << "its step has " << context;
      return error;
    }
    auto [entry, isNew] = ownerOfLayer.insert({op.getLayerAttr().getInt(), op});
    if (!isNew) { // (S6)
      InFlightDiagnostic error = op.emitOpError("appends to layer ");
      error << entry->first << " a second time";
      error.attachNote(entry->second.getLoc()) << "first here";
      return error;
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult verifyStep(func::FuncOp step) {
  const StepInfo info = stepInfo(step);
  return failure(failed(verifySizes(step, info)) ||
                 failed(verifySignature(step, info.tokens)) ||
                 failed(verifyCaches(step, info.context)));
}

LogicalResult LlmDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  const auto *first = llvm::find_if(
      kStepAttrs, [&](StringRef name) { return op->hasAttr(name); });
  if (first == std::end(kStepAttrs) || attribute.getName() != *first) {
    return success(); // once a step, whichever attributes are there
  }
  auto step = dyn_cast<func::FuncOp>(op);
  if (!step) {
    return op->emitOpError() << "has '" << attribute.getName().strref()
                             << "', which is for func.func";
  }
  return failure(failed(verifyAttributes(op)) || failed(verifyStep(step)));
}

} // namespace orrery::llm
