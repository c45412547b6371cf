#include "compiler/lower/VectorBurst.h"

#include <cassert>

using namespace mlir;

namespace orrery {

flow::AccessAttr access(MLIRContext *context, ArrayRef<int64_t> extents,
                        ArrayRef<int64_t> steps, uint32_t offset) {
  return flow::AccessAttr::get(context, extents, steps, offset,
                               flow::Dynamic::None, 0, flow::Mask::All, 0, 0, 0,
                               0, 0);
}

flow::AccessAttr withDynamic(flow::AccessAttr a, flow::Dynamic dynamic,
                             uint32_t step) {
  return flow::AccessAttr::get(a.getContext(), a.getExtents(), a.getSteps(),
                               a.getOffset(), dynamic, step, a.getMask(),
                               a.getLow(), a.getHigh(), a.getTokenDim(),
                               a.getStripeBytes(), a.getStripeStep());
}

flow::AccessAttr withLanes(flow::AccessAttr a, uint32_t low, uint32_t high) {
  return flow::AccessAttr::get(
      a.getContext(), a.getExtents(), a.getSteps(), a.getOffset(),
      a.getDynamic(), a.getDynamicStep(), flow::Mask::Range, low, high,
      a.getTokenDim(), a.getStripeBytes(), a.getStripeStep());
}

flow::AccessAttr withTokens(flow::AccessAttr a, flow::Mask mask,
                            uint32_t tokenDim) {
  return flow::AccessAttr::get(a.getContext(), a.getExtents(), a.getSteps(),
                               a.getOffset(), a.getDynamic(),
                               a.getDynamicStep(), mask, 0, 0, tokenDim,
                               a.getStripeBytes(), a.getStripeStep());
}

flow::AccessAttr withStripe(flow::AccessAttr a, uint32_t bytes, uint32_t step,
                            uint32_t tokenDim) {
  return flow::AccessAttr::get(a.getContext(), a.getExtents(), a.getSteps(),
                               a.getOffset(), a.getDynamic(),
                               a.getDynamicStep(), a.getMask(), a.getLow(),
                               a.getHigh(), tokenDim, bytes, step);
}

uint32_t VectorBurst::input(Operand operand) {
  assert(steps.empty() && "inputs are numbered before steps");
  inputs.push_back(operand.buffer);
  reads.push_back(operand.access);
  return values++;
}

uint32_t VectorBurst::add(flow::StepAttr step) {
  steps.push_back(step);
  return values++;
}

uint32_t VectorBurst::step(flow::AluOp op, uint32_t a, uint32_t b) {
  return add(flow::StepAttr::get(builder.getContext(), op, a, b, FloatAttr(), 0,
                                 false, 0, 1, 1, 1, 1));
}

uint32_t VectorBurst::constant(float value) {
  return add(flow::StepAttr::get(builder.getContext(), flow::AluOp::Immediate,
                                 0, 0, builder.getF32FloatAttr(value), 0, false,
                                 0, 1, 1, 1, 1));
}

uint32_t VectorBurst::keep(uint32_t a, float otherwise, uint32_t bound,
                           bool position, BurstIndex token, BurstIndex tile) {
  return add(flow::StepAttr::get(builder.getContext(), flow::AluOp::Keep, a, 0,
                                 builder.getF32FloatAttr(otherwise), bound,
                                 position, 0, token.divide, token.modulo,
                                 tile.divide, tile.modulo));
}

uint32_t VectorBurst::grouped(flow::AluOp op, uint32_t a, uint32_t width,
                              BurstIndex tile) {
  return add(flow::StepAttr::get(builder.getContext(), op, a, 0, FloatAttr(), 0,
                                 false, width, 1, 1, tile.divide, tile.modulo));
}

void VectorBurst::output(uint32_t value, flow::StreamType type,
                         ArrayRef<Operand> to, flow::Reduction reduction) {
  for (const Operand &operand : to) {
    outs.push_back(operand.buffer);
    writes.push_back(operand.access);
    routes.push_back(int32_t(outputs.size()));
  }
  outputs.push_back(
      flow::OutputAttr::get(builder.getContext(), value, type, reduction));
}

void VectorBurst::emit(Location location) {
  builder.create<flow::VectorOp>(
      location, inputs, outs, builder.getI32IntegerAttr(int32_t(count)),
      builder.getI32IntegerAttr(int32_t(group)), builder.getArrayAttr(steps),
      builder.getArrayAttr(outputs), builder.getDenseI32ArrayAttr(routes),
      builder.getArrayAttr(reads), builder.getArrayAttr(writes));
}

} // namespace orrery
