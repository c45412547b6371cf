// Checks of the ops in TickTables.td, and a vector program as the machine has
// it.
#include "dialects/tick/TickSyntax.h"

#include "machine/PartialSums.h"

using namespace mlir;

namespace orrery::tick {

LogicalResult RegionOp::verify() {
  if (getWidth() < 1 || getLength() < 1) { // (C1)
    return emitOpError("has at least 1 of width and length, found ")
           << getWidth() << ", " << getLength();
  }
  const bool temporary = getKind() == RegionKind::Temporary;
  if (temporary ? getBorn() < 0 || getDies() <= getBorn()
                : getBorn() != 0 || getDies() != 0) { // (C2)
    return emitOpError("lives in ticks [")
           << getBorn() << ", " << getDies() << "), expected "
           << (temporary ? "0 <= born < dies" : "no lifetime");
  }
  return success();
}

VectorProgram VectorProgramOp::getProgram() {
  VectorProgram program;
  for (auto type : getInputs().getAsRange<StreamTypeAttr>()) {
    program.inputs.push_back(fromWord<orrery::StreamType>(type.getValue()));
  }
  for (auto step : getSteps().getAsRange<StepAttr>()) {
    program.steps.push_back(step.getValue());
  }
  for (auto output : getOutputs().getAsRange<OutputAttr>()) {
    program.outputs.push_back(output.getValue());
  }
  program.group = getGroup();
  return program;
}

/// How many values a step takes: its operands are numbered from 0 if unused.
static uint32_t greatestOperand(const AluStep &step) {
  return std::max(step.a, step.b);
}

static bool takesNoOperand(const AluStep &step) {
  return step.op == orrery::AluOp::Immediate;
}

static LogicalResult verifyValues(VectorProgramOp op) {
  uint32_t known = op.getInputs().size();
  for (auto step : op.getSteps().getAsRange<StepAttr>()) {
    const uint32_t operand = greatestOperand(step.getValue());
    if (!takesNoOperand(step.getValue()) && operand >= known) { // (C3)
      return op.emitOpError("takes v")
             << operand << " to make v" << known << ", expected an earlier one";
    }
    ++known;
  }
  for (auto output : op.getOutputs().getAsRange<OutputAttr>()) {
    if (output.getValue().value >= known) { // (C3)
      return op.emitOpError("puts out v")
             << uint32_t(output.getValue().value) << ", the last is v"
             << int64_t(known) - 1;
    }
  }
  return success();
}

LogicalResult VectorProgramOp::verify() {
  const size_t inputs = getInputs().size(), outputs = getOutputs().size();
  const size_t values = inputs + getSteps().size();
  if (inputs > 8 || outputs < 1 || outputs > 4 || values > 256) { // (C1)
    return emitOpError("has ")
           << inputs << " inputs, " << outputs << " outputs and " << values
           << " values, expected at most 8, 1 to 4, at most 256";
  }
  for (auto type : getInputs().getAsRange<StreamTypeAttr>()) {
    if (type.getValue() == StreamType::A8) { // (C2)
      return emitOpError("has an a8 input, expected f32, f16, i8 or sum");
    }
  }
  if (getGroup() < 1) { // (C4)
    return emitOpError("has groups of at least 1 vector, found 0");
  }
  if (failed(verifyValues(*this))) {
    return failure();
  }
  if (!sumsAreOnlyAdded(getProgram())) { // (C5)
    return emitOpError("uses accumulators otherwise than for add_sums");
  }
  return success();
}

LogicalResult LaneMapOp::verify() {
  if (getLanes().empty()) { // (C1)
    return emitOpError("has at least 1 lane, found none");
  }
  return success();
}

} // namespace orrery::tick
