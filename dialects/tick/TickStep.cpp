// One step of a vector program: which fields its operation uses, how it is
// written, and whether it makes sense.
#include "dialects/tick/TickSyntax.h"

#include "machine/StepFields.h"

#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace orrery::tick {

static StepFields fieldsOf(AluOp op) {
  return orrery::fieldsOf(static_cast<orrery::AluOp>(op));
}

static ParseResult parseImmediate(AsmParser &parser, float &value) {
  llvm::APFloat parsed(0.0f);
  if (parser.parseFloat(llvm::APFloat::IEEEsingle(), parsed)) {
    return failure();
  }
  value = parsed.convertToFloat();
  return success();
}

// `name div 4 mod 2`, or nothing for index 0 throughout.
static ParseResult parseIndex(AsmParser &parser, StringRef name,
                              BurstIndex &index) {
  if (failed(parser.parseOptionalKeyword(name))) {
    return success();
  }
  return failure(
      parser.parseKeyword("div") || parser.parseInteger(index.divide) ||
      parser.parseKeyword("mod") || parser.parseInteger(index.modulo));
}

static void printIndex(AsmPrinter &printer, StringRef name,
                       const BurstIndex &index) {
  if (index != BurstIndex{}) {
    printer << ' ' << name << " div " << index.divide << " mod "
            << index.modulo;
  }
}

static ParseResult parseOperands(AsmParser &parser, int operands,
                                 AluStep &step) {
  if (operands > 0 && parseValue(parser, step.a)) {
    return failure();
  }
  return failure(operands > 1 &&
                 (parser.parseComma() || parseValue(parser, step.b)));
}

// `below 64 + position else 0.0 token div 4 mod 2`
static ParseResult parseLimit(AsmParser &parser, AluStep &step) {
  if (parser.parseKeyword("below") || parser.parseInteger(step.bound)) {
    return failure();
  }
  if (succeeded(parser.parseOptionalPlus())) {
    if (parser.parseKeyword("position")) {
      return failure();
    }
    step.position = true;
  }
  return failure(parser.parseKeyword("else") ||
                 parseImmediate(parser, step.immediate) ||
                 parseIndex(parser, "token", step.token));
}

ParseResult parseStep(AsmParser &parser, AluStep &step) {
  FailureOr<AluOp> op = FieldParser<AluOp>::parse(parser);
  if (failed(op)) {
    return failure();
  }
  step.op = fromWord<orrery::AluOp>(*op);
  const StepFields fields = fieldsOf(*op);
  if (parseOperands(parser, fields.operands, step)) {
    return failure();
  }
  if (fields.limit
          ? parseLimit(parser, step)
          : ParseResult(failure(fields.immediate &&
                                parseImmediate(parser, step.immediate)))) {
    return failure();
  }
  if (fields.width &&
      (parser.parseKeyword("width") || parser.parseInteger(step.width))) {
    return failure();
  }
  return failure(fields.tile && parseIndex(parser, "tile", step.tile));
}

void printStep(AsmPrinter &printer, const AluStep &step) {
  const auto op = toWord<AluOp>(step.op);
  const StepFields fields = fieldsOf(op);
  printer << stringifyAluOp(op);
  if (fields.operands > 0) {
    printer << " v" << uint32_t(step.a);
  }
  if (fields.operands > 1) {
    printer << ", v" << uint32_t(step.b);
  }
  if (fields.limit) {
    printer << " below " << step.bound
            << (step.position ? " + position else" : " else");
  }
  if (fields.immediate) {
    printer << ' ';
    printer.printFloat(llvm::APFloat(step.immediate));
  }
  if (fields.limit) {
    printIndex(printer, "token", step.token);
  }
  if (fields.width) {
    printer << " width " << step.width;
  }
  if (fields.tile) {
    printIndex(printer, "tile", step.tile);
  }
}

/// `step` with the fields that its operation does not use at their defaults.
static AluStep withoutUnused(const AluStep &step) {
  const StepFields fields = fieldsOf(toWord<AluOp>(step.op));
  AluStep used = {};
  used.op = step.op;
  used.a = fields.operands > 0 ? step.a : 0;
  used.b = fields.operands > 1 ? step.b : 0;
  const bool immediate = fields.immediate || step.immediate == 0; // also -0.0
  used.immediate = immediate ? step.immediate : 0;
  if (fields.limit) {
    used.bound = step.bound;
    used.position = step.position;
    used.token = step.position ? step.token : BurstIndex{};
  }
  used.width = fields.width ? step.width : 0;
  used.tile = fields.tile ? step.tile : BurstIndex{};
  return used;
}

LogicalResult
StepAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 AluStep step) {
  const auto op = toWord<AluOp>(step.op);
  if (!sameBits(step, withoutUnused(step))) { // (C1)
    return emitError() << "has a field that " << stringifyAluOp(op)
                       << " does not use";
  }
  if (fieldsOf(op).width && step.width < 1) { // (C2)
    return emitError() << "the width is at least 1, found 0";
  }
  for (const BurstIndex &index : {step.token, step.tile}) {
    if (index.divide < 1 || index.modulo < 1) { // (C3)
      return emitError() << "div and mod are at least 1, found " << index.divide
                         << ", " << index.modulo;
    }
  }
  return success();
}

} // namespace orrery::tick
