// Checks of the op in FlowVector.td, and its program in the machine's form.
#include "dialects/flow/FlowChecks.h"

#include "machine/PartialSums.h"

using namespace mlir;

namespace orrery::flow {

orrery::VectorProgram VectorOp::program() {
  orrery::VectorProgram p;
  for (Value input : getInputs()) {
    p.inputs.push_back(machineType(elementOf(input)));
  }
  for (auto s : getSteps().getAsRange<StepAttr>()) {
    orrery::AluStep step;
    step.op = static_cast<orrery::AluOp>(s.getOp());
    step.a = uint8_t(s.getA());
    step.b = uint8_t(s.getB());
    step.immediate = s.getImm() ? s.getImm().getValue().convertToFloat() : 0.0f;
    step.bound = s.getBound();
    step.position = s.getPosition();
    step.width = s.getWidth();
    step.token = {s.getTokenDiv(), s.getTokenMod()};
    step.tile = {s.getTileDiv(), s.getTileMod()};
    p.steps.push_back(step);
  }
  for (auto o : getOutputs().getAsRange<OutputAttr>()) {
    p.outputs.push_back({uint8_t(o.getValue()), machineType(o.getType()),
                         static_cast<orrery::Reduction>(o.getReduction())});
  }
  p.group = uint32_t(getGroup());
  return p;
}

static LogicalResult verifyCounts(VectorOp op) {
  size_t inputs = op.getInputs().size(), outputs = op.getOutputs().size();
  size_t values = inputs + op.getSteps().size();
  if (op.getReads().size() != inputs ||
      op.getWrites().size() != op.getOuts().size() ||
      op.getRoutes().size() != op.getOuts().size()) {
    return op.emitOpError("(C1) one access an operand, one route an output "
                          "buffer");
  }
  if (op.getGroup() < 1 || op.getCount() < 1 ||
      op.getCount() % op.getGroup() != 0) {
    return op.emitOpError("(C2) group ")
           << op.getGroup() << " does not divide count " << op.getCount();
  }
  if (inputs > 8 || outputs < 1 || outputs > 4 || values > 256) {
    return op.emitOpError("(C5) at most 8 inputs, 1 to 4 outputs and 256 "
                          "values, found ")
           << inputs << ", " << outputs << " and " << values;
  }
  return success();
}

static LogicalResult verifyValues(VectorOp op) {
  size_t values = op.getInputs().size();
  for (auto step : op.getSteps().getAsRange<StepAttr>()) {
    bool none = step.getOp() == AluOp::Immediate;
    if (!none && (step.getA() >= values || step.getB() >= values)) {
      return op.emitOpError("(C3) v")
             << values << " takes v" << std::max(step.getA(), step.getB())
             << ", expected an earlier value";
    }
    ++values;
  }
  for (auto out : op.getOutputs().getAsRange<OutputAttr>()) {
    if (out.getValue() >= values) {
      return op.emitOpError("(C3) puts out v")
             << out.getValue() << " of " << values << " values";
    }
  }
  return success();
}

static LogicalResult verifyReads(VectorOp op) {
  for (auto [input, read] : llvm::zip_equal(
           op.getInputs(), op.getReads().getAsRange<AccessAttr>())) {
    if (elementOf(input) == StreamType::A8) {
      return op.emitOpError("(C9) inputs are f32, f16, i8 or sum, found a8");
    }
    if (vectorCount(read) != uint64_t(op.getCount())) {
      return op.emitOpError("(C6) a read of ")
             << vectorCount(read) << " vectors, expected " << op.getCount();
    }
    if (failed(verifyInside(op, "C7", read, input.getType())) ||
        failed(verifyPlain(op, "C8", read))) {
      return failure();
    }
  }
  return success();
}

// Rows appended to tiles are striped by the bytes of an element.
static LogicalResult verifyStripe(VectorOp op, AccessAttr write, Type memory,
                                  StreamType type) {
  uint32_t expected =
      isa<TilesType>(memory) ? uint32_t(streamsOf(machineType(type))) : 0;
  if (write.getStripeBytes() != expected) {
    return op.emitOpError("(C8) a stripe of ")
           << write.getStripeBytes() << " bytes into " << memory
           << ", expected " << expected;
  }
  return success();
}

static LogicalResult verifyWrite(VectorOp op, Value out, AccessAttr write,
                                 OutputAttr source) {
  auto buffer = dyn_cast<BufferType>(out.getType());
  if (buffer && buffer.getType() != source.getType()) {
    return op.emitOpError("(C4) a buffer of ")
           << stringifyStreamType(buffer.getType()) << " gets "
           << stringifyStreamType(source.getType());
  }
  uint64_t expected = source.getReduction() == Reduction::None
                          ? uint64_t(op.getCount())
                          : uint64_t(op.getCount() / op.getGroup());
  if (vectorCount(write) != expected) {
    return op.emitOpError("(C6) a write of ")
           << vectorCount(write) << " vectors, expected " << expected;
  }
  if (failed(verifyInside(op, "C7", write, out.getType()))) {
    return failure();
  }
  return verifyStripe(op, write, out.getType(), source.getType());
}

static LogicalResult verifyWrites(VectorOp op) {
  auto outputs = llvm::to_vector(op.getOutputs().getAsRange<OutputAttr>());
  SmallVector<bool> routed(outputs.size());
  for (auto [out, route, write] :
       llvm::zip_equal(op.getOuts(), op.getRoutes(),
                       op.getWrites().getAsRange<AccessAttr>())) {
    if (route < 0 || size_t(route) >= outputs.size()) {
      return op.emitOpError("(C4) route ")
             << route << " of " << outputs.size() << " outputs";
    }
    routed[size_t(route)] = true;
    if (failed(verifyWrite(op, out, write, outputs[size_t(route)]))) {
      return failure();
    }
  }
  if (!llvm::all_of(routed, [](bool r) { return r; })) {
    return op.emitOpError("(C4) an output goes nowhere");
  }
  return success();
}

LogicalResult VectorOp::verify() {
  if (failed(verifyCounts(*this)) || failed(verifyValues(*this)) ||
      failed(verifyReads(*this)) || failed(verifyWrites(*this))) {
    return failure();
  }
  if (!sumsAreOnlyAdded(program())) {
    return emitOpError("(C10) uses accumulators otherwise than for add_sums");
  }
  return success();
}

} // namespace orrery::flow
