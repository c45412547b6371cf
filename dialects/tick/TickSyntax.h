// How the fields of the machine's structs are written in the tick dialect:
// the custom<...> directives of the .td files, and the enum casts beneath.
#pragma once

#include "dialects/tick/Tick.h"

#include "mlir/IR/DialectImplementation.h"

namespace orrery::tick {

/// The dialect's word for a value of one of the machine's enums, and back;
/// Word is the dialect's enum of the same name (TickSyntax.cpp asserts that
/// they agree).
template <class Word, class Value> Word toWord(Value value) {
  return static_cast<Word>(static_cast<uint32_t>(value));
}
template <class Value, class Word> Value fromWord(Word word) {
  return static_cast<Value>(static_cast<uint32_t>(word));
}

// Fields of attributes, between the angle brackets.
mlir::ParseResult parseShape(mlir::AsmParser &parser, BurstShape &shape);
void printShape(mlir::AsmPrinter &printer, const BurstShape &shape);
mlir::ParseResult parseAddress(mlir::AsmParser &parser,
                               AddressPattern &address);
void printAddress(mlir::AsmPrinter &printer, const AddressPattern &address);
mlir::ParseResult parseStreamRef(mlir::AsmParser &parser, StreamRef &stream);
void printStreamRef(mlir::AsmPrinter &printer, const StreamRef &stream);
mlir::ParseResult parseStreamOut(mlir::AsmParser &parser, StreamOut &out);
void printStreamOut(mlir::AsmPrinter &printer, const StreamOut &out);
mlir::ParseResult parseLogits(mlir::AsmParser &parser, LogitsPlace &place);
void printLogits(mlir::AsmPrinter &printer, const LogitsPlace &place);
mlir::ParseResult parseStep(mlir::AsmParser &parser, AluStep &step);
void printStep(mlir::AsmPrinter &printer, const AluStep &step);
mlir::ParseResult parseOutput(mlir::AsmParser &parser, VectorOutput &output);
void printOutput(mlir::AsmPrinter &printer, const VectorOutput &output);

/// A value number: `v` and decimal digits, at most 255.
mlir::ParseResult parseValue(mlir::AsmParser &parser, uint8_t &value);

// Parts of ops.

/// An enum attribute as its bare word.
template <class EnumAttr>
mlir::ParseResult parseWord(mlir::OpAsmParser &parser, EnumAttr &attr) {
  auto word = mlir::FieldParser<decltype(attr.getValue())>::parse(parser);
  if (mlir::failed(word)) {
    return mlir::failure();
  }
  attr = EnumAttr::get(parser.getContext(), *word);
  return mlir::success();
}
template <class EnumAttr>
void printWord(mlir::OpAsmPrinter &printer, mlir::Operation *, EnumAttr attr) {
  printer << stringifyEnum(attr.getValue());
}

mlir::ParseResult parseStream(mlir::OpAsmParser &parser, StreamAttr &stream);
void printStream(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                 StreamAttr stream);
mlir::ParseResult parseOut(mlir::OpAsmParser &parser, OutAttr &out);
void printOut(mlir::OpAsmPrinter &printer, mlir::Operation *op, OutAttr out);
mlir::ParseResult parseStreams(mlir::OpAsmParser &parser,
                               mlir::ArrayAttr &streams);
void printStreams(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::ArrayAttr streams);
mlir::ParseResult parseOuts(mlir::OpAsmParser &parser, mlir::ArrayAttr &outs);
void printOuts(mlir::OpAsmPrinter &printer, mlir::Operation *op,
               mlir::ArrayAttr outs);
mlir::ParseResult parseVectorBody(mlir::OpAsmParser &parser,
                                  mlir::ArrayAttr &inputs,
                                  mlir::ArrayAttr &steps,
                                  mlir::ArrayAttr &outputs);
void printVectorBody(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::ArrayAttr inputs, mlir::ArrayAttr steps,
                     mlir::ArrayAttr outputs);
mlir::ParseResult parseLanes(mlir::OpAsmParser &parser,
                             mlir::DenseI16ArrayAttr &lanes);
void printLanes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                mlir::DenseI16ArrayAttr lanes);

} // namespace orrery::tick
