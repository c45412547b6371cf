#include "dialects/flow/FlowSyntax.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace orrery::flow {

// `%x <[4] by [1]> : type`
static ParseResult parseBuffer(OpAsmParser &parser, Operands &buffers,
                               OperandTypes &types,
                               SmallVectorImpl<Attribute> &accesses) {
  AccessAttr access;
  if (parser.parseOperand(buffers.emplace_back()) ||
      parser.parseCustomAttributeWithFallback(access) ||
      parser.parseColonType(types.emplace_back())) {
    return failure();
  }
  accesses.push_back(access);
  return success();
}

static void printBuffer(OpAsmPrinter &printer, Value buffer, Attribute access) {
  printer << buffer << ' ';
  printer.printStrippedAttrOrType(cast<AccessAttr>(access));
  printer << " : " << buffer.getType();
}

ParseResult parseReads(OpAsmParser &parser, Operands &buffers,
                       OperandTypes &types, ArrayAttr &accesses) {
  SmallVector<Attribute> all;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return parseBuffer(parser, buffers, types, all);
      })) {
    return failure();
  }
  accesses = parser.getBuilder().getArrayAttr(all);
  return success();
}

void printReads(OpAsmPrinter &printer, mlir::Operation *, OperandRange buffers,
                TypeRange, ArrayAttr accesses) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(buffers, accesses), printer, [&](auto pair) {
    printBuffer(printer, std::get<0>(pair), std::get<1>(pair));
  });
  printer << ')';
}

ParseResult parseRoutedWrites(OpAsmParser &parser, Operands &buffers,
                              OperandTypes &types, ArrayAttr &accesses,
                              DenseI32ArrayAttr &routes) {
  SmallVector<Attribute> all;
  SmallVector<int32_t> numbers;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
        return failure(parser.parseInteger(numbers.emplace_back()) ||
                       parser.parseKeyword("to") ||
                       parseBuffer(parser, buffers, types, all));
      })) {
    return failure();
  }
  accesses = parser.getBuilder().getArrayAttr(all);
  routes = parser.getBuilder().getDenseI32ArrayAttr(numbers);
  return success();
}

void printRoutedWrites(OpAsmPrinter &printer, mlir::Operation *,
                       OperandRange buffers, TypeRange, ArrayAttr accesses,
                       DenseI32ArrayAttr routes) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(routes.asArrayRef(), buffers, accesses),
                        printer, [&](auto write) {
                          printer << std::get<0>(write) << " to ";
                          printBuffer(printer, std::get<1>(write),
                                      std::get<2>(write));
                        });
  printer << ')';
}

// `v2 = step`; numbers must come in order.
static ParseResult parseStepLine(OpAsmParser &parser, size_t number,
                                 SmallVectorImpl<Attribute> &steps) {
  SMLoc place = parser.getCurrentLocation();
  uint32_t value = 0;
  if (parseValue(parser, value)) {
    return failure();
  }
  if (value != number) {
    return parser.emitError(place, "expected v") << number << " here";
  }
  if (parser.parseEqual()) {
    return failure();
  }
  FailureOr<StepAttr> step = parseStep(parser);
  if (failed(step)) {
    return failure();
  }
  steps.push_back(*step);
  return success();
}

ParseResult parseVectorBody(OpAsmParser &parser, const Operands &inputs,
                            ArrayAttr &steps, ArrayAttr &outputs) {
  SmallVector<Attribute> stepAttrs, outputAttrs;
  if (parser.parseLBrace()) {
    return failure();
  }
  while (failed(parser.parseOptionalRBrace())) {
    if (succeeded(parser.parseOptionalKeyword("out"))) {
      FailureOr<OutputAttr> output = parseOutput(parser);
      if (failed(output)) {
        return failure();
      }
      outputAttrs.push_back(*output);
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

void printVectorBody(OpAsmPrinter &printer, mlir::Operation *,
                     OperandRange inputs, ArrayAttr steps, ArrayAttr outputs) {
  printer << '{';
  printer.increaseIndent();
  size_t number = inputs.size();
  for (auto step : steps.getAsRange<StepAttr>()) {
    printer.printNewline();
    printer << 'v' << number++ << " = ";
    printStep(printer, step);
  }
  for (auto output : outputs.getAsRange<OutputAttr>()) {
    printer.printNewline();
    printer << "out ";
    printOutput(printer, output);
  }
  printer.decreaseIndent();
  printer.printNewline();
  printer << '}';
}

// `zero n`, `a`, or `a to b`
static ParseResult parseLaneRun(OpAsmParser &parser,
                                SmallVectorImpl<int32_t> &lanes) {
  constexpr uint32_t kMostLanes = 65535;
  SMLoc place = parser.getCurrentLocation();
  bool zero = succeeded(parser.parseOptionalKeyword("zero"));
  uint32_t first = 0;
  if (parser.parseInteger(first)) {
    return failure();
  }
  uint32_t last = first;
  if (!zero && succeeded(parser.parseOptionalKeyword("to")) &&
      parser.parseInteger(last)) {
    return failure();
  }
  if (last < first || last > kMostLanes) {
    return parser.emitError(place, "expected rising lanes of at most ")
           << kMostLanes;
  }
  if (zero) {
    lanes.append(first, -1);
    return success();
  }
  for (uint32_t lane = first; lane <= last; ++lane) {
    lanes.push_back(int32_t(lane));
  }
  return success();
}

ParseResult parseLaneMap(OpAsmParser &parser, DenseI32ArrayAttr &map) {
  SmallVector<int32_t> lanes;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseLaneRun(parser, lanes);
      })) {
    return failure();
  }
  map = parser.getBuilder().getDenseI32ArrayAttr(lanes);
  return success();
}

/// How many entries from the first on are -1, or rise by one.
static size_t runLength(ArrayRef<int32_t> lanes) {
  size_t n = 1;
  while (n < lanes.size() &&
         lanes[n] == (lanes[0] < 0 ? -1 : lanes[0] + int32_t(n))) {
    ++n;
  }
  return n;
}

void printLaneMap(OpAsmPrinter &printer, mlir::Operation *,
                  DenseI32ArrayAttr map) {
  printer << '[';
  for (ArrayRef<int32_t> rest = map.asArrayRef(); !rest.empty();) {
    size_t n = runLength(rest);
    if (rest.front() < 0) {
      printer << "zero " << n;
    } else if (n == 1) {
      printer << rest.front();
    } else {
      printer << rest.front() << " to " << rest[n - 1];
    }
    rest = rest.drop_front(n);
    printer << (rest.empty() ? "" : ", ");
  }
  printer << ']';
}

} // namespace orrery::flow
