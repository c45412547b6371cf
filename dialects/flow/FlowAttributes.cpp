// How axes and outputs are written, and their checks.
#include "dialects/flow/FlowSyntax.h"

#include "machine/PartialSums.h"

using namespace mlir;

namespace orrery::flow {

LogicalResult
AxisAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 uint32_t elements, uint32_t heads, uint32_t kvHeads,
                 uint32_t headDim, uint32_t ranks, uint32_t total) {
  if (elements < 1) { // (C1)
    return emitError() << "an axis has at least 1 element, found 0";
  }
  bool dense = heads == 0 && kvHeads == 0 && headDim == 0;
  if (!dense && (kvHeads == 0 || heads == 0 || heads % kvHeads != 0 ||
                 uint64_t(heads) * headDim != elements)) { // (C2)
    return emitError() << "an axis of " << elements << " elements is not "
                       << heads << " heads of " << headDim << " over "
                       << kvHeads << " KV heads";
  }
  bool whole = ranks == 1 && total == 0;
  if (!whole && (ranks < 2 || elements % 32 != 0 || total < 1 ||
                 total > uint64_t(ranks) * elements)) { // (C3)
    return emitError() << ranks << " shards of " << elements
                       << " elements are not an axis of " << total;
  }
  return success();
}

Attribute AxisAttr::parse(AsmParser &parser, Type) {
  uint32_t elements = 0, heads = 0, kvHeads = 0, headDim = 0;
  uint32_t ranks = 1, total = 0;
  if (parser.parseLess() || parser.parseInteger(elements)) {
    return {};
  }
  while (succeeded(parser.parseOptionalComma())) {
    bool bad =
        succeeded(parser.parseOptionalKeyword("shard"))
            ? parser.parseKeyword("of") || parser.parseInteger(ranks) ||
                  parser.parseKeyword("in") || parser.parseInteger(total)
            : parser.parseKeyword("heads") || parser.parseInteger(heads) ||
                  parser.parseKeyword("over") || parser.parseInteger(kvHeads) ||
                  parser.parseKeyword("of") || parser.parseInteger(headDim);
    if (bad) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<AxisAttr>(parser.getContext(), elements, heads,
                                     kvHeads, headDim, ranks, total);
}

void AxisAttr::print(AsmPrinter &printer) const {
  printer << '<' << getElements();
  if (getHeads() > 0) {
    printer << ", heads " << getHeads() << " over " << getKvHeads() << " of "
            << getHeadDim();
  }
  if (getRanks() > 1) {
    printer << ", shard of " << getRanks() << " in " << getTotal();
  }
  printer << '>';
}

LogicalResult
OutputAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, uint32_t,
                   StreamType type, Reduction reduction) {
  if (!reducesTo(static_cast<orrery::Reduction>(reduction),
                 machineType(type))) { // (C1)
    return emitError() << "output " << stringifyReduction(reduction)
                       << " is f32, found " << stringifyStreamType(type);
  }
  return success();
}

FailureOr<OutputAttr> parseOutput(AsmParser &parser) {
  SMLoc place = parser.getCurrentLocation();
  uint32_t value = 0;
  if (parseValue(parser, value) || parser.parseColon()) {
    return failure();
  }
  FailureOr<StreamType> type = FieldParser<StreamType>::parse(parser);
  if (failed(type)) {
    return failure();
  }
  StringRef word = "none";
  (void)parser.parseOptionalKeyword(
      &word, {"sum_wide", "sum_exact", "max", "argmax", "argbest", "add_sums"});
  auto output = parser.getChecked<OutputAttr>(place, parser.getContext(), value,
                                              *type, *symbolizeReduction(word));
  if (!output) {
    return failure();
  }
  return output;
}

void printOutput(AsmPrinter &printer, OutputAttr output) {
  printer << 'v' << output.getValue() << " : "
          << stringifyStreamType(output.getType());
  if (output.getReduction() != Reduction::None) {
    printer << ' ' << stringifyReduction(output.getReduction());
  }
}

Attribute OutputAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess()) {
    return {};
  }
  FailureOr<OutputAttr> output = parseOutput(parser);
  return failed(output) || parser.parseGreater() ? Attribute() : *output;
}

void OutputAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printOutput(printer, *this);
  printer << '>';
}

} // namespace orrery::flow
