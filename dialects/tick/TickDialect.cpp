// Registration of the tick dialect.
#include "dialects/tick/TickSyntax.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/tick/TickDialect.cpp.inc"
#include "dialects/tick/TickEnums.cpp.inc"
#include "dialects/tick/TickInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tick/TickAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/tick/TickOps.cpp.inc"

namespace orrery::tick {

void TickDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tick/TickAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/tick/TickOps.cpp.inc"
      >();
}

} // namespace orrery::tick
