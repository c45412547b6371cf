// Which vectors an access touches: its fields, its text, its checks.
#include "dialects/flow/FlowSyntax.h"

using namespace mlir;

namespace orrery::flow {

uint64_t vectorCount(AccessAttr access) {
  uint64_t count = 1;
  for (int64_t extent : access.getExtents()) {
    count *= uint64_t(extent);
  }
  return count;
}

AddressPattern addressPattern(AccessAttr access, uint32_t base) {
  AddressPattern pattern;
  pattern.base = base + access.getOffset();
  for (size_t k = 0; k < access.getExtents().size(); ++k) {
    pattern.extent[k] = uint32_t(access.getExtents()[k]);
    pattern.step[k] = int32_t(access.getSteps()[k]);
  }
  pattern.dynamic = static_cast<orrery::Dynamic>(access.getDynamic());
  pattern.dynamicStep = access.getDynamicStep();
  return pattern;
}

std::pair<int64_t, int64_t> staticRange(AccessAttr access) {
  int64_t low = access.getOffset(), high = low;
  for (auto [extent, step] :
       llvm::zip(access.getExtents(), access.getSteps())) {
    int64_t reach = step * (extent - 1);
    low += std::min<int64_t>(reach, 0);
    high += std::max<int64_t>(reach, 0);
  }
  return {low, high};
}

LogicalResult
AccessAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   ArrayRef<int64_t> extents, ArrayRef<int64_t> steps, uint32_t,
                   Dynamic, uint32_t, Mask mask, uint32_t low, uint32_t high,
                   uint32_t tokenDim, uint32_t stripeBytes, uint32_t) {
  if (extents.empty() || extents.size() > 3 ||
      extents.size() != steps.size()) { // (C1)
    return emitError() << "access needs one to three extents and as many "
                          "steps, found "
                       << extents.size() << " and " << steps.size();
  }
  constexpr int64_t kMost = int64_t(1) << 20; // keeps products in 64 bits
  for (auto [extent, step] : llvm::zip(extents, steps)) {
    if (extent < 1 || extent > kMost || step < -kMost || step > kMost) { // (C1)
      return emitError() << "access extents are 1 to " << kMost
                         << ", and steps at most that either way, found "
                         << extent << " by " << step;
    }
  }
  if (mask == Mask::Range && low >= high) { // (C2)
    return emitError() << "access lanes " << low << " to " << high
                       << " are empty";
  }
  if (tokenDim >= extents.size()) { // (C3)
    return emitError() << "access token_dim " << tokenDim << " of "
                       << extents.size() << " extents";
  }
  if (stripeBytes > 0 && mask != Mask::All) { // (C4)
    return emitError() << "access is striped and names " << stringifyMask(mask)
                       << " lanes";
  }
  return success();
}

static ParseResult parseNumber(AsmParser &parser, uint32_t &value) {
  return parser.parseInteger(value);
}

static ParseResult parseList(AsmParser &parser,
                             SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        return parser.parseInteger(values.emplace_back());
      });
}

namespace {
/// The optional fields of an access, zero when not printed.
struct AccessFields {
  uint32_t offset = 0, dynamicStep = 0, low = 0, high = 0, tokenDim = 0;
  uint32_t stripeBytes = 0, stripeStep = 0;
  Dynamic dynamic = Dynamic::None;
  Mask mask = Mask::All;
};
} // namespace

static ParseResult parseField(AsmParser &parser, AccessFields &f) {
  StringRef key;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseKeyword(&key)) {
    return failure();
  }
  if (key == "offset") {
    return parseNumber(parser, f.offset);
  }
  if (key == "position" || key == "chunk") {
    f.dynamic = key == "chunk" ? Dynamic::Chunk : Dynamic::Position;
    return parseNumber(parser, f.dynamicStep);
  }
  if (key == "lanes") {
    f.mask = Mask::Range;
    return failure(parseNumber(parser, f.low) || parser.parseKeyword("to") ||
                   parseNumber(parser, f.high));
  }
  if (key == "token_lane" || key == "token_span") {
    f.mask = key == "token_lane" ? Mask::TokenLane : Mask::TokenSpan;
    return success();
  }
  if (key == "token_dim") {
    return parseNumber(parser, f.tokenDim);
  }
  if (key == "stripe") {
    return failure(parseNumber(parser, f.stripeBytes) ||
                   parser.parseKeyword("step") ||
                   parseNumber(parser, f.stripeStep));
  }
  return parser.emitError(where, "unknown access field '") << key << "'";
}

Attribute AccessAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t, 3> extents, steps;
  AccessFields f;
  if (parser.parseLess() || parseList(parser, extents) ||
      parser.parseKeyword("by") || parseList(parser, steps)) {
    return {};
  }
  while (succeeded(parser.parseOptionalComma())) {
    if (parseField(parser, f)) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<AccessAttr>(
      parser.getContext(), ArrayRef<int64_t>(extents), ArrayRef<int64_t>(steps),
      f.offset, f.dynamic, f.dynamicStep, f.mask, f.low, f.high, f.tokenDim,
      f.stripeBytes, f.stripeStep);
}

void AccessAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getExtents(), printer);
  printer << "] by [";
  llvm::interleaveComma(getSteps(), printer);
  printer << "]";
  if (getOffset()) {
    printer << ", offset " << getOffset();
  }
  if (getDynamic() != Dynamic::None) {
    printer << ", " << stringifyDynamic(getDynamic()) << " "
            << getDynamicStep();
  }
  if (getMask() == Mask::Range) {
    printer << ", lanes " << getLow() << " to " << getHigh();
  } else if (getMask() != Mask::All) {
    printer << ", " << stringifyMask(getMask());
  }
  if (getTokenDim()) {
    printer << ", token_dim " << getTokenDim();
  }
  if (getStripeBytes()) {
    printer << ", stripe " << getStripeBytes() << " step " << getStripeStep();
  }
  printer << ">";
}

} // namespace orrery::flow
