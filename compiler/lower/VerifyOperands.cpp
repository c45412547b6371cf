// What lowering can take: whether an op's rows lie in lanes as it needs them.
//
// Everything here is legal llm that this compiler does not lower. It is refused
// by name before an op is emitted, never computed otherwise.
#include "compiler/lower/FlowBuilder.h"

#include "llvm/ADT/TypeSwitch.h"

#include <utility>

using namespace mlir;

namespace orrery {

static LogicalResult verifyAlike(mlir::Operation *op, const AxisLayout &a,
                                 const AxisLayout &b) {
  return a == b ? success()
                : op->emitOpError("has one operand in attention heads and "
                                  "one that is not: they lie in different "
                                  "lanes");
}

LogicalResult FlowBuilder::verifyLinear(llm::LinearOp op) {
  const AxisLayout &in = rowsOf(op.getX()).axis;
  bool half = op.getFormat() == llm::WeightFormat::F16;
  if (!in.isDense() && in.headDim % 32 != 0 && !half) {
    return op.emitOpError("quantizes rows in attention heads of ")
           << in.headDim << ": blocks of 32 would straddle heads";
  }
  AxisLayout out = resultAxis(op);
  if (!out.isDense() && out.slot() > layout.lanes) {
    return op.emitOpError("feeds attention: head_dim ")
           << out.headDim << " needs " << out.slot() << " lanes, the chip has "
           << layout.lanes;
  }
  return success();
}

LogicalResult FlowBuilder::verifyRope(llm::RopeOp op) {
  for (OpOperand &use : op.getResult().getUses()) {
    if (!isa<llm::AttentionOp>(use.getOwner()) || use.getOperandNumber() > 1) {
      return op.emitOpError("may only feed attention's q and k");
    }
  }
  return success();
}

LogicalResult FlowBuilder::verifyAttention(llm::AttentionOp op) {
  auto heads = [&](int64_t count) {
    return AxisLayout::ofHeads(int32_t(count), int32_t(op.getKvHeads()),
                               int32_t(op.getHeadDim()), layout.lanes);
  };
  if (rowsOf(op.getQ()).axis != heads(op.getHeads()) ||
      rowsOf(op.getK()).axis != heads(op.getKvHeads()) ||
      rowsOf(op.getV()).axis != heads(op.getKvHeads())) {
    return op.emitOpError("needs q, k and v straight from an llm.linear, with "
                          "an llm.rope for q and k, and for no other heads");
  }
  return success();
}

// In slots, a lane's number is not its element's: the id would be wrong. Who
// does not look at it says so.
LogicalResult FlowBuilder::verifyLogits(llm::ArgmaxOp op) {
  if (rowsOf(op.getLogits()).axis.isDense() || op->hasAttr(kProbeAttr)) {
    return success();
  }
  return op.emitOpError("is over attention heads, not logits");
}

LogicalResult FlowBuilder::verifyOperands(mlir::Operation *op) {
  for (Value operand : op->getOperands()) {
    if (!isa<llm::EmbedOp>(op) && !values.contains(operand)) {
      return op->emitOpError("takes a value that the stage does not compute");
    }
  }
  return llvm::TypeSwitch<mlir::Operation *, LogicalResult>(op)
      .Case([&](llm::EmbedOp o) {
        return std::exchange(received, true)
                   ? o.emitOpError("is the step's second: the host sends one "
                                   "input")
                   : success();
      })
      .Case([&](llm::LinearOp o) { return verifyLinear(o); })
      .Case([&](llm::RopeOp o) { return verifyRope(o); })
      .Case([&](llm::AttentionOp o) { return verifyAttention(o); })
      .Case([&](llm::AddOp o) {
        return verifyAlike(o, rowsOf(o.getA()).axis, rowsOf(o.getB()).axis);
      })
      .Case([&](llm::GatedOp o) {
        return verifyAlike(o, rowsOf(o.getGate()).axis, rowsOf(o.getUp()).axis);
      })
      .Case([&](grid::ArgmaxOp o) {
        return sent ? o.emitOpError("is the step's second: the host gets one")
                    : success();
      })
      .Case([&](llm::ArgmaxOp o) {
        return sent ? o.emitOpError("is the step's second: the host gets one")
                    : verifyLogits(o);
      })
      .Default([](mlir::Operation *) { return success(); });
}

} // namespace orrery
