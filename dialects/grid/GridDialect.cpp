// Registration of the grid dialect.
#include "dialects/grid/Grid.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/grid/GridDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/grid/GridAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/grid/GridOps.cpp.inc"

namespace orrery::grid {

void GridDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/grid/GridAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/grid/GridOps.cpp.inc"
      >();
}

} // namespace orrery::grid
