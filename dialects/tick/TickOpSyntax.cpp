// How parts of the ops are written: streams without brackets, the body of a
// vector program, lane maps.
#include "dialects/tick/TickSyntax.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace orrery::tick {

ParseResult parseStream(OpAsmParser &parser, StreamAttr &stream) {
  StreamRef value;
  if (parseStreamRef(parser, value)) {
    return failure();
  }
  stream = StreamAttr::get(parser.getContext(), value);
  return success();
}

void printStream(OpAsmPrinter &printer, mlir::Operation *, StreamAttr stream) {
  printStreamRef(printer, stream.getValue());
}

ParseResult parseOut(OpAsmParser &parser, OutAttr &out) {
  SMLoc place = parser.getCurrentLocation();
  StreamOut value;
  if (parseStreamOut(parser, value)) {
    return failure();
  }
  out = parser.getChecked<OutAttr>(place, parser.getContext(), value);
  return success(out != nullptr);
}

void printOut(OpAsmPrinter &printer, mlir::Operation *, OutAttr out) {
  printStreamOut(printer, out.getValue());
}

// `(` element, ... `)`
template <class Attr>
static ParseResult parseGroup(OpAsmParser &parser, ArrayAttr &array,
                              ParseResult (*parseElement)(OpAsmParser &,
                                                          Attr &)) {
  SmallVector<Attribute> elements;
  auto parseOne = [&]() -> ParseResult {
    Attr element;
    if (parseElement(parser, element)) {
      return failure();
    }
    elements.push_back(element);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne)) {
    return failure();
  }
  array = parser.getBuilder().getArrayAttr(elements);
  return success();
}

template <class Attr>
static void printGroup(OpAsmPrinter &printer, ArrayAttr array,
                       void (*printElement)(OpAsmPrinter &, mlir::Operation *,
                                            Attr)) {
  printer << '(';
  llvm::interleaveComma(array.getAsRange<Attr>(), printer, [&](Attr element) {
    printElement(printer, nullptr, element);
  });
  printer << ')';
}

ParseResult parseStreams(OpAsmParser &parser, ArrayAttr &streams) {
  return parseGroup<StreamAttr>(parser, streams, parseStream);
}

void printStreams(OpAsmPrinter &printer, mlir::Operation *, ArrayAttr streams) {
  printGroup<StreamAttr>(printer, streams, printStream);
}

ParseResult parseOuts(OpAsmParser &parser, ArrayAttr &outs) {
  return parseGroup<OutAttr>(parser, outs, parseOut);
}

void printOuts(OpAsmPrinter &printer, mlir::Operation *, ArrayAttr outs) {
  printGroup<OutAttr>(printer, outs, printOut);
}

// `v2 = step`; numbers must come in order.
static ParseResult parseStepLine(OpAsmParser &parser, size_t number,
                                 SmallVectorImpl<Attribute> &steps) {
  SMLoc place = parser.getCurrentLocation();
  uint8_t value = 0;
  AluStep step = {};
  if (parseValue(parser, value)) {
    return failure();
  }
  if (value != number) {
    return parser.emitError(place, "expected v") << number << " here";
  }
  if (parser.parseEqual() || parseStep(parser, step)) {
    return failure();
  }
  auto attr = parser.getChecked<StepAttr>(place, parser.getContext(), step);
  steps.push_back(attr);
  return success(attr != nullptr);
}

// `v2 : f32`, behind `out`.
static ParseResult parseOutputLine(OpAsmParser &parser,
                                   SmallVectorImpl<Attribute> &outputs) {
  SMLoc place = parser.getCurrentLocation();
  VectorOutput output = {};
  if (parseOutput(parser, output)) {
    return failure();
  }
  auto attr = parser.getChecked<OutputAttr>(place, parser.getContext(), output);
  outputs.push_back(attr);
  return success(attr != nullptr);
}

ParseResult parseVectorBody(OpAsmParser &parser, ArrayAttr &inputs,
                            ArrayAttr &steps, ArrayAttr &outputs) {
  if (parseGroup<StreamTypeAttr>(parser, inputs, parseWord) ||
      parser.parseLBrace()) {
    return failure();
  }
  SmallVector<Attribute> stepAttrs, outputAttrs;
  while (failed(parser.parseOptionalRBrace())) {
    if (succeeded(parser.parseOptionalKeyword("out"))) {
      if (parseOutputLine(parser, outputAttrs)) {
        return failure();
      }
    } else if (!outputAttrs.empty()) {
      return parser.emitError(parser.getCurrentLocation(),
                              "expected 'out' or the end: steps come first");
    } else if (parseStepLine(parser, inputs.size() + stepAttrs.size(),
                             stepAttrs)) {
      return failure();
    }
  }
  steps = parser.getBuilder().getArrayAttr(stepAttrs);
  outputs = parser.getBuilder().getArrayAttr(outputAttrs);
  return success();
}

void printVectorBody(OpAsmPrinter &printer, mlir::Operation *, ArrayAttr inputs,
                     ArrayAttr steps, ArrayAttr outputs) {
  printGroup<StreamTypeAttr>(printer, inputs, printWord);
  printer << " {";
  printer.increaseIndent();
  size_t number = inputs.size();
  for (auto step : steps.getAsRange<StepAttr>()) {
    printer.printNewline();
    printer << 'v' << number++ << " = ";
    printStep(printer, step.getValue());
  }
  for (auto output : outputs.getAsRange<OutputAttr>()) {
    printer.printNewline();
    printer << "out ";
    printOutput(printer, output.getValue());
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << '}';
}

static constexpr uint16_t kZeroLane = 0xffff;

// `zero n`, `a`, or `a to b`
static ParseResult parseLaneRun(OpAsmParser &parser,
                                SmallVectorImpl<int16_t> &lanes) {
  uint16_t first = 0;
  if (succeeded(parser.parseOptionalKeyword("zero"))) {
    if (parser.parseInteger(first)) {
      return failure();
    }
    lanes.append(first, static_cast<int16_t>(kZeroLane));
    return success();
  }
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseInteger(first)) {
    return failure();
  }
  uint16_t last = first;
  if (succeeded(parser.parseOptionalKeyword("to")) &&
      parser.parseInteger(last)) {
    return failure();
  }
  if (last < first || last == kZeroLane) {
    return parser.emitError(place, "expected rising lanes below 65535");
  }
  for (uint32_t lane = first; lane <= last; ++lane) {
    lanes.push_back(static_cast<int16_t>(lane));
  }
  return success();
}

ParseResult parseLanes(OpAsmParser &parser, DenseI16ArrayAttr &lanes) {
  SmallVector<int16_t> values;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseLaneRun(parser, values);
      })) {
    return failure();
  }
  lanes = parser.getBuilder().getDenseI16ArrayAttr(values);
  return success();
}

/// How many entries from the first on are zeros, or rise by one.
static size_t runLength(ArrayRef<int16_t> lanes) {
  const auto at = [&](size_t i) { return static_cast<uint16_t>(lanes[i]); };
  size_t n = 1;
  while (n < lanes.size() &&
         (at(0) == kZeroLane ? at(n) == kZeroLane
                             : at(n) != kZeroLane && at(n) == at(0) + n)) {
    ++n;
  }
  return n;
}

void printLanes(OpAsmPrinter &printer, mlir::Operation *,
                DenseI16ArrayAttr lanes) {
  printer << '[';
  ArrayRef<int16_t> rest = lanes;
  while (!rest.empty()) {
    const auto first = static_cast<uint16_t>(rest.front());
    const size_t n = runLength(rest);
    if (first == kZeroLane) {
      printer << "zero " << n;
    } else if (n == 1) {
      printer << first;
    } else {
      printer << first << " to " << first + n - 1;
    }
    rest = rest.drop_front(n);
    printer << (rest.empty() ? "" : ", ");
  }
  printer << ']';
}

} // namespace orrery::tick
