// The assembly directive custom<Word>($attr): an enum attribute as its bare
// keyword, `format(q8_0)`. (A plain $attr prints a stray space before it.)
#pragma once

#include "mlir/IR/DialectImplementation.h"

namespace orrery::llm {

template <class EnumAttr>
mlir::ParseResult parseWord(mlir::AsmParser &parser, EnumAttr &attr) {
  using Enum = decltype(attr.getValue());
  mlir::FailureOr<Enum> value = mlir::FieldParser<Enum>::parse(parser);
  if (mlir::failed(value)) {
    return mlir::failure();
  }
  attr = EnumAttr::get(parser.getContext(), *value);
  return mlir::success();
}

template <class EnumAttr>
void printWord(mlir::AsmPrinter &printer, mlir::Operation *, EnumAttr attr) {
  printer << stringifyEnum(attr.getValue());
}

} // namespace orrery::llm
