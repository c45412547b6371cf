// One step of a vector program: which fields its operation uses, how it is
// written, and whether it makes sense.
#include "dialects/flow/FlowSyntax.h"

#include "machine/StepFields.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace orrery::flow {

namespace {
/// A step before it is an attribute.
struct StepValue {
  AluOp op = AluOp::Add;
  uint32_t a = 0, b = 0;
  FloatAttr imm;
  uint32_t bound = 0;
  bool position = false;
  uint32_t width = 0;
  BurstIndex token{}, tile{};
};
} // namespace

static StepFields fieldsOf(AluOp op) {
  return orrery::fieldsOf(static_cast<orrery::AluOp>(op));
}

ParseResult parseValue(AsmParser &parser, uint32_t &value) {
  SMLoc place = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word)) {
    return failure();
  }
  if (!word.consume_front("v") || word.getAsInteger(10, value)) {
    return parser.emitError(place, "expected a value, v0, v1, ...");
  }
  return success();
}

static ParseResult parseImmediate(AsmParser &parser, FloatAttr &value) {
  llvm::APFloat parsed(0.0f);
  if (parser.parseFloat(llvm::APFloat::IEEEsingle(), parsed)) {
    return failure();
  }
  value = FloatAttr::get(parser.getBuilder().getF32Type(), parsed);
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

// `below 64 + position else 0.0 token div 4 mod 2`
static ParseResult parseLimit(AsmParser &parser, StepValue &step) {
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
                 parseImmediate(parser, step.imm) ||
                 parseIndex(parser, "token", step.token));
}

static ParseResult parseFields(AsmParser &parser, const StepFields &fields,
                               StepValue &step) {
  if (fields.operands > 0 && parseValue(parser, step.a)) {
    return failure();
  }
  if (fields.operands > 1 &&
      (parser.parseComma() || parseValue(parser, step.b))) {
    return failure();
  }
  if (fields.limit ? failed(parseLimit(parser, step))
                   : fields.immediate && parseImmediate(parser, step.imm)) {
    return failure();
  }
  if (fields.width &&
      (parser.parseKeyword("width") || parser.parseInteger(step.width))) {
    return failure();
  }
  return failure(fields.tile && parseIndex(parser, "tile", step.tile));
}

FailureOr<StepAttr> parseStep(AsmParser &parser) {
  SMLoc place = parser.getCurrentLocation();
  FailureOr<AluOp> op = FieldParser<AluOp>::parse(parser);
  StepValue s;
  if (failed(op) || parseFields(parser, fieldsOf(*op), s)) {
    return failure();
  }
  auto step = parser.getChecked<StepAttr>(
      place, parser.getContext(), *op, s.a, s.b, s.imm, s.bound, s.position,
      s.width, s.token.divide, s.token.modulo, s.tile.divide, s.tile.modulo);
  if (!step) {
    return failure();
  }
  return step;
}

void printStep(AsmPrinter &printer, StepAttr step) {
  StepFields fields = fieldsOf(step.getOp());
  printer << stringifyAluOp(step.getOp());
  if (fields.operands > 0) {
    printer << " v" << step.getA();
  }
  if (fields.operands > 1) {
    printer << ", v" << step.getB();
  }
  if (fields.limit) {
    printer << " below " << step.getBound()
            << (step.getPosition() ? " + position else" : " else");
  }
  if (fields.immediate) {
    printer << ' ';
    printer.printFloat(step.getImm().getValue());
  }
  if (fields.limit) {
    printIndex(printer, "token", {step.getTokenDiv(), step.getTokenMod()});
  }
  if (fields.width) {
    printer << " width " << step.getWidth();
  }
  if (fields.tile) {
    printIndex(printer, "tile", {step.getTileDiv(), step.getTileMod()});
  }
}

LogicalResult
StepAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, AluOp op,
                 uint32_t a, uint32_t b, FloatAttr imm, uint32_t bound,
                 bool position, uint32_t width, uint32_t tokenDiv,
                 uint32_t tokenMod, uint32_t tileDiv, uint32_t tileMod) {
  StepFields fields = fieldsOf(op);
  BurstIndex token{tokenDiv, tokenMod}, tile{tileDiv, tileMod};
  bool unused =
      (fields.operands < 1 && a != 0) || (fields.operands < 2 && b != 0) ||
      fields.immediate != bool(imm) ||
      (!fields.limit && (bound != 0 || position)) ||
      (!position && token != BurstIndex{}) || (!fields.width && width != 0) ||
      (!fields.tile && tile != BurstIndex{});
  if (unused || (imm && !imm.getType().isF32())) { // (C1)
    return emitError() << "step has a field that " << stringifyAluOp(op)
                       << " does not use, or lacks its f32 immediate";
  }
  if (fields.width && width < 1) { // (C2)
    return emitError() << "step width is at least 1, found 0";
  }
  for (const BurstIndex &index : {token, tile}) {
    if (index.divide < 1 || index.modulo < 1) { // (C3)
      return emitError() << "step div and mod are at least 1, found "
                         << index.divide << ", " << index.modulo;
    }
  }
  return success();
}

Attribute StepAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess()) {
    return {};
  }
  FailureOr<StepAttr> step = parseStep(parser);
  return failed(step) || parser.parseGreater() ? Attribute() : *step;
}

void StepAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printStep(printer, *this);
  printer << '>';
}

} // namespace orrery::flow
