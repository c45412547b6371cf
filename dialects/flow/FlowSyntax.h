// How attributes and parts of flow ops are written: the custom<...> directives
// of the .td files. Words are those of the tick dialect where both have them.
#pragma once

#include "dialects/flow/Flow.h"

#include "mlir/IR/DialectImplementation.h"

namespace orrery::flow {

using Operands = llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;
using OperandTypes = llvm::SmallVectorImpl<mlir::Type>;

/// An enum attribute as its bare word.
template <class EnumAttr>
mlir::ParseResult parseWord(mlir::AsmParser &parser, EnumAttr &attr) {
  auto word = mlir::FieldParser<decltype(attr.getValue())>::parse(parser);
  if (mlir::failed(word)) {
    return mlir::failure();
  }
  attr = EnumAttr::get(parser.getContext(), *word);
  return mlir::success();
}
template <class EnumAttr>
void printWord(mlir::AsmPrinter &printer, mlir::Operation *, EnumAttr attr) {
  printer << stringifyEnum(attr.getValue());
}

/// A value number: `v` and decimal digits.
mlir::ParseResult parseValue(mlir::AsmParser &parser, uint32_t &value);
// Steps and outputs, between the angle brackets or as a line of a body.
mlir::FailureOr<StepAttr> parseStep(mlir::AsmParser &parser);
void printStep(mlir::AsmPrinter &printer, StepAttr step);
mlir::FailureOr<OutputAttr> parseOutput(mlir::AsmParser &parser);
void printOutput(mlir::AsmPrinter &printer, OutputAttr output);

/// `(%x <[4] by [1]> : type, ...)`
mlir::ParseResult parseReads(mlir::OpAsmParser &parser, Operands &buffers,
                             OperandTypes &types, mlir::ArrayAttr &accesses);
void printReads(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                mlir::OperandRange buffers, mlir::TypeRange types,
                mlir::ArrayAttr accesses);
/// `(0 to %y <[4] by [1]> : type, ...)`: the output's number first.
mlir::ParseResult parseRoutedWrites(mlir::OpAsmParser &parser,
                                    Operands &buffers, OperandTypes &types,
                                    mlir::ArrayAttr &accesses,
                                    mlir::DenseI32ArrayAttr &routes);
void printRoutedWrites(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                       mlir::OperandRange buffers, mlir::TypeRange types,
                       mlir::ArrayAttr accesses,
                       mlir::DenseI32ArrayAttr routes);
/// `{ v1 = step ... out v1 : f32 ... }`, a line each.
mlir::ParseResult parseVectorBody(mlir::OpAsmParser &parser,
                                  const Operands &inputs,
                                  mlir::ArrayAttr &steps,
                                  mlir::ArrayAttr &outputs);
void printVectorBody(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::OperandRange inputs, mlir::ArrayAttr steps,
                     mlir::ArrayAttr outputs);
/// `[1, 0, 2 to 31, zero 32]`
mlir::ParseResult parseLaneMap(mlir::OpAsmParser &parser,
                               mlir::DenseI32ArrayAttr &map);
void printLaneMap(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::DenseI32ArrayAttr map);

} // namespace orrery::flow
