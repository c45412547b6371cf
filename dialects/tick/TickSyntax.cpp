// How the fields of the attributes in TickAttributes.td are written.
#include "dialects/tick/TickSyntax.h"

using namespace mlir;

namespace orrery::tick {

template <class Word, class Value>
constexpr bool agree(Word word, Value value) {
  return static_cast<uint32_t>(word) == static_cast<uint32_t>(value);
}
static_assert(agree(Direction::West, orrery::Direction::West));
static_assert(agree(Dynamic::Position, orrery::Dynamic::Position) &&
              agree(Dynamic::Chunk, orrery::Dynamic::Chunk));
static_assert(agree(StreamType::F32, orrery::StreamType::F32) &&
              agree(StreamType::F16, orrery::StreamType::F16) &&
              agree(StreamType::I8, orrery::StreamType::I8) &&
              agree(StreamType::A8, orrery::StreamType::A8) &&
              agree(StreamType::Sum, orrery::StreamType::Sum));
static_assert(agree(WeightFormat::Q8, orrery::WeightFormat::Q8) &&
              agree(WeightFormat::Q4, orrery::WeightFormat::Q4) &&
              agree(WeightFormat::I8, orrery::WeightFormat::I8) &&
              agree(WeightFormat::F16, orrery::WeightFormat::F16));
static_assert(agree(LaneMask::All, orrery::LaneMask::All) &&
              agree(LaneMask::Range, orrery::LaneMask::Range) &&
              agree(LaneMask::TokenLane, orrery::LaneMask::TokenLane) &&
              agree(LaneMask::TokenSpan, orrery::LaneMask::TokenSpan));
static_assert(agree(PermuteKind::Transpose, orrery::PermuteKind::Transpose));
static_assert(agree(RegionKind::Weight, orrery::RegionKind::Weight) &&
              agree(RegionKind::Table, orrery::RegionKind::Table) &&
              agree(RegionKind::Kv, orrery::RegionKind::Kv) &&
              agree(RegionKind::Temporary, orrery::RegionKind::Temporary) &&
              agree(RegionKind::Instructions,
                    orrery::RegionKind::Instructions));
static_assert(agree(QueueKind::Read, QueueId::Kind::Read) &&
              agree(QueueKind::Write, QueueId::Kind::Write) &&
              agree(QueueKind::Load, QueueId::Kind::Load) &&
              agree(QueueKind::Install, QueueId::Kind::Install) &&
              agree(QueueKind::Matmul, QueueId::Kind::Matmul) &&
              agree(QueueKind::Vector, QueueId::Kind::Vector) &&
              agree(QueueKind::Permute, QueueId::Kind::Permute) &&
              agree(QueueKind::Receive, QueueId::Kind::Receive) &&
              agree(QueueKind::Send, QueueId::Kind::Send) &&
              agree(QueueKind::Fetch, QueueId::Kind::Fetch));
static_assert(agree(AluOp::Add, orrery::AluOp::Add) &&
              agree(AluOp::Sub, orrery::AluOp::Sub) &&
              agree(AluOp::Mul, orrery::AluOp::Mul) &&
              agree(AluOp::Div, orrery::AluOp::Div) &&
              agree(AluOp::Max, orrery::AluOp::Max) &&
              agree(AluOp::Exp, orrery::AluOp::Exp) &&
              agree(AluOp::Sqrt, orrery::AluOp::Sqrt) &&
              agree(AluOp::Silu, orrery::AluOp::Silu) &&
              agree(AluOp::Keep, orrery::AluOp::Keep) &&
              agree(AluOp::Window, orrery::AluOp::Window) &&
              agree(AluOp::Splat, orrery::AluOp::Splat) &&
              agree(AluOp::KvScale, orrery::AluOp::KvScale) &&
              agree(AluOp::KvCode, orrery::AluOp::KvCode) &&
              agree(AluOp::Immediate, orrery::AluOp::Immediate) &&
              agree(AluOp::AddBits, orrery::AluOp::AddBits));
static_assert(agree(Reduction::SumWide, orrery::Reduction::SumWide) &&
              agree(Reduction::SumExact, orrery::Reduction::SumExact) &&
              agree(Reduction::Max, orrery::Reduction::Max) &&
              agree(Reduction::ArgMax, orrery::Reduction::ArgMax) &&
              agree(Reduction::ArgBest, orrery::Reduction::ArgBest) &&
              agree(Reduction::AddSums, orrery::Reduction::AddSums));

template <class Word, class Value>
static ParseResult parseEnum(AsmParser &parser, Value &value) {
  FailureOr<Word> word = FieldParser<Word>::parse(parser);
  if (failed(word)) {
    return failure();
  }
  value = fromWord<Value>(*word);
  return success();
}

template <class T>
static ParseResult parseField(AsmParser &parser, StringRef name, T &value) {
  return failure(parser.parseKeyword(name) || parser.parseInteger(value));
}

ParseResult parseShape(AsmParser &parser, BurstShape &shape) {
  if (parser.parseInteger(shape.length)) {
    return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("every")) &&
      parser.parseInteger(shape.stride)) {
    return failure();
  }
  if (failed(parser.parseOptionalComma())) {
    return success();
  }
  return failure(parser.parseInteger(shape.runs) ||
                 parser.parseKeyword("runs") ||
                 parseField(parser, "every", shape.period));
}

void printShape(AsmPrinter &printer, const BurstShape &shape) {
  printer << shape.length;
  if (shape.stride != 1) {
    printer << " every " << shape.stride;
  }
  if (shape.runs != 1 || shape.period != 0) {
    printer << ", " << shape.runs << " runs every " << shape.period;
  }
}

static ParseResult parseDynamic(AsmParser &parser, AddressPattern &address) {
  return failure(parseEnum<Dynamic>(parser, address.dynamic) ||
                 parseField(parser, "by", address.dynamicStep));
}

ParseResult parseAddress(AsmParser &parser, AddressPattern &address) {
  if (parser.parseInteger(address.base)) {
    return failure();
  }
  for (size_t k = 0; succeeded(parser.parseOptionalComma()); ++k) {
    SMLoc place = parser.getCurrentLocation();
    uint32_t extent = 1;
    OptionalParseResult dimension = parser.parseOptionalInteger(extent);
    if (!dimension.has_value()) {
      return parseDynamic(parser, address);
    }
    if (failed(*dimension)) {
      return failure();
    }
    if (k == address.extent.size()) {
      return parser.emitError(place, "expected at most three dimensions");
    }
    address.extent[k] = extent;
    if (parseField(parser, "by", address.step[k])) {
      return failure();
    }
  }
  return success();
}

void printAddress(AsmPrinter &printer, const AddressPattern &address) {
  size_t dimensions = address.extent.size();
  while (dimensions > 0 && address.extent[dimensions - 1] == 1 &&
         address.step[dimensions - 1] == 0) {
    --dimensions;
  }
  printer << address.base;
  for (size_t k = 0; k < dimensions; ++k) {
    printer << ", " << address.extent[k] << " by " << address.step[k];
  }
  if (address.dynamic != orrery::Dynamic::None) {
    printer << ", " << stringifyDynamic(toWord<Dynamic>(address.dynamic))
            << " by " << address.dynamicStep;
  }
}

ParseResult parseStreamRef(AsmParser &parser, StreamRef &stream) {
  return failure(parseEnum<Direction>(parser, stream.direction) ||
                 parser.parseInteger(stream.stream));
}

void printStreamRef(AsmPrinter &printer, const StreamRef &stream) {
  printer << stringifyDirection(toWord<Direction>(stream.direction)) << ' '
          << uint32_t(stream.stream);
}

ParseResult parseStreamOut(AsmParser &parser, StreamOut &out) {
  return failure(parseStreamRef(parser, out.ref) ||
                 parseField(parser, "stop", out.stop));
}

void printStreamOut(AsmPrinter &printer, const StreamOut &out) {
  printStreamRef(printer, out.ref);
  printer << " stop " << out.stop;
}

ParseResult parseLogits(AsmParser &parser, LogitsPlace &place) {
  return failure(parseField(parser, "slice", place.slice) ||
                 parseField(parser, "bank", place.bank) ||
                 parseField(parser, "base", place.base) ||
                 parseField(parser, "vectors", place.vectors) ||
                 parseField(parser, "vocab", place.vocab));
}

void printLogits(AsmPrinter &printer, const LogitsPlace &place) {
  printer << "slice " << place.slice << " bank " << uint32_t(place.bank)
          << " base " << place.base << " vectors " << place.vectors << " vocab "
          << place.vocab;
}

ParseResult parseValue(AsmParser &parser, uint8_t &value) {
  SMLoc place = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word)) {
    return failure();
  }
  if (!word.consume_front("v") || word.getAsInteger(10, value)) {
    return parser.emitError(place, "expected a value, v0 to v255");
  }
  return success();
}

ParseResult parseOutput(AsmParser &parser, VectorOutput &output) {
  if (parseValue(parser, output.value) || parser.parseColon() ||
      parseEnum<StreamType>(parser, output.type)) {
    return failure();
  }
  SMLoc place = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseOptionalKeyword(
          &word,
          {"sum_wide", "sum_exact", "max", "argmax", "argbest", "add_sums"}))) {
    return success();
  }
  std::optional<Reduction> reduction = symbolizeReduction(word);
  if (!reduction) {
    return parser.emitError(place, "expected a reduction");
  }
  output.reduction = fromWord<orrery::Reduction>(*reduction);
  return success();
}

void printOutput(AsmPrinter &printer, const VectorOutput &output) {
  printer << 'v' << uint32_t(output.value) << " : "
          << stringifyStreamType(toWord<StreamType>(output.type));
  if (output.reduction != orrery::Reduction::None) {
    printer << ' ' << stringifyReduction(toWord<Reduction>(output.reduction));
  }
}

} // namespace orrery::tick
