// Verifiers of the flow ops; labels as in FlowOps.td.
#include "dialects/flow/Flow.h"

#include "mlir/IR/Builders.h"

#define GET_OP_CLASSES
#include "dialects/flow/FlowOps.cpp.inc"

using namespace mlir;

namespace orrery::flow {

LogicalResult ProgramOp::verify() {
  if (getTokens() < 1 || getBucket() < 1 || getContext() < 1) {
    return emitOpError("(C1) tokens, bucket and context must be positive");
  }
  return success();
}

LogicalResult RegionOp::verify() {
  bool tiles = isa<TilesType>(getMemory().getType());
  if ((getKind() == Kind::Weight && !tiles) ||
      (getKind() == Kind::Table && tiles)) {
    return emitOpError("(C1) a weight region is tiles, a table a buffer");
  }
  if ((getKind() != Kind::Kv && !getRows()) ||
      (getKind() == Kind::Weight && !getColumns())) {
    return emitOpError("(C2) a weight region has rows and columns, a table "
                       "rows");
  }
  return success();
}

orrery::VectorProgram VectorOp::program() {
  orrery::VectorProgram p;
  for (Value input : getInputs()) {
    p.inputs.push_back(
        machineType(cast<BufferType>(input.getType()).getType()));
  }
  for (auto s : getSteps().getAsRange<StepAttr>()) {
    orrery::AluStep step;
    step.op = static_cast<orrery::AluOp>(s.getOp());
    step.a = uint8_t(s.getA());
    step.b = uint8_t(s.getB());
    step.immediate =
        s.getImm() ? s.getImm().getValue().convertToFloat() : 0.0f;
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

static LogicalResult verifyValues(VectorOp op) {
  size_t values = op.getInputs().size();
  for (auto step : op.getSteps().getAsRange<StepAttr>()) {
    bool none = step.getOp() == AluOp::Immediate;
    if (!none && (step.getA() >= values || step.getB() >= values)) {
      return op.emitOpError("(C3) step ")
             << values - op.getInputs().size() << " names a later value";
    }
    ++values;
  }
  for (auto out : op.getOutputs().getAsRange<OutputAttr>()) {
    if (out.getValue() >= values) {
      return op.emitOpError("(C3) output names value ")
             << out.getValue() << " of " << values;
    }
  }
  return success();
}

static LogicalResult verifyRoutes(VectorOp op) {
  auto outputs = llvm::to_vector(op.getOutputs().getAsRange<OutputAttr>());
  for (auto [out, route, write] :
       llvm::zip_equal(op.getOuts(), op.getRoutes(),
                       op.getWrites().getAsRange<AccessAttr>())) {
    if (route < 0 || size_t(route) >= outputs.size()) {
      return op.emitOpError("(C4) route ") << route << " of "
                                           << outputs.size() << " outputs";
    }
    OutputAttr source = outputs[size_t(route)];
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
      return op.emitOpError("(C1) a write of ")
             << vectorCount(write) << " vectors, expected " << expected;
    }
  }
  return success();
}

LogicalResult VectorOp::verify() {
  if (getInputs().size() > 8 || getOutputs().size() > 4) {
    return emitOpError("(C5) at most 8 inputs and 4 outputs");
  }
  if (getReads().size() != getInputs().size() ||
      getWrites().size() != getOuts().size() ||
      getRoutes().size() != getOuts().size()) {
    return emitOpError("(C1) one access, and one route, an operand");
  }
  if (getGroup() < 1 || getCount() % getGroup() != 0) {
    return emitOpError("(C2) group ")
           << getGroup() << " does not divide count " << getCount();
  }
  for (auto read : getReads().getAsRange<AccessAttr>()) {
    if (vectorCount(read) != uint64_t(getCount())) {
      return emitOpError("(C1) a read of ")
             << vectorCount(read) << " vectors, expected " << getCount();
    }
  }
  return failed(verifyValues(*this)) ? failure() : verifyRoutes(*this);
}

LogicalResult LoadOp::verify() {
  auto type = cast<BufferType>(getInput().getType()).getType();
  if (type != StreamType::A8 && type != StreamType::F16) {
    return emitOpError("(C1) activations are a8 or f16, found ")
           << stringifyStreamType(type);
  }
  if (vectorCount(getRead()) != uint64_t(getRows()) * getInner()) {
    return emitOpError("(C2) a read of ")
           << vectorCount(getRead()) << " vectors for " << getRows()
           << " rows of " << getInner();
  }
  return success();
}

LogicalResult MatmulOp::verify() {
  auto load = getLoaded().getDefiningOp<LoadOp>();
  auto weights = cast<TilesType>(getWeights().getType());
  if (getLow() < 0 || uint32_t(getHigh() - getLow()) != weights.getRows()) {
    return emitOpError("(C1) lanes ")
           << getLow() << " to " << getHigh() << " for tiles of "
           << weights.getRows() << " rows";
  }
  if (!load) {
    return success(); // a block argument says nothing about rows
  }
  if (vectorCount(getWrite()) != uint64_t(getTiles()) * load.getRows()) {
    return emitOpError("(C2) a write of ")
           << vectorCount(getWrite()) << " vectors for " << getTiles()
           << " tiles of " << load.getRows() << " rows";
  }
  if (uint64_t(getFirst()) + uint64_t(getTiles()) * load.getInner() >
      weights.getTiles()) {
    return emitOpError("(C3) passes use ")
           << getFirst() + getTiles() * load.getInner() << " tiles, there are "
           << weights.getTiles();
  }
  return success();
}

LogicalResult PermuteOp::verify() {
  auto type = cast<BufferType>(getInput().getType()).getType();
  for (Value out : getOuts()) {
    if (cast<BufferType>(out.getType()).getType() != type) {
      return emitOpError("(C1) in and out have one type");
    }
  }
  if (type == StreamType::A8) {
    return emitOpError("(C1) lanes of a8 cannot be moved apart from scales");
  }
  for (auto write : getWrites().getAsRange<AccessAttr>()) {
    if (vectorCount(write) != vectorCount(getRead())) {
      return emitOpError("(C2) reads ")
             << vectorCount(getRead()) << " vectors, writes "
             << vectorCount(write);
    }
  }
  return success();
}

LogicalResult TransposeOp::verify() {
  auto in = cast<BufferType>(getInput().getType()).getType();
  auto out = cast<TilesType>(getOut().getType()).getFormat();
  bool same = (in == StreamType::I8 && out == Format::I8) ||
              (in == StreamType::F16 && out == Format::F16);
  return same ? success()
              : emitOpError("(C1) ") << stringifyStreamType(in) << " rows into "
                                     << stringifyFormat(out) << " tiles";
}

static LogicalResult verifyF32(mlir::Operation *op, Value buffer) {
  auto type = cast<BufferType>(buffer.getType()).getType();
  return type == StreamType::F32 ? success()
                                 : op->emitOpError("(C1) expected f32, found ")
                                       << stringifyStreamType(type);
}
LogicalResult ReceiveOp::verify() { return verifyF32(*this, getOut()); }
LogicalResult SendOp::verify() { return verifyF32(*this, getInput()); }
LogicalResult LogitsOp::verify() { return verifyF32(*this, getBuffer()); }

} // namespace orrery::flow
