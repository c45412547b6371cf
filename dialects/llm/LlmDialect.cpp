// Registration of the llm dialect and the shapes its values can have.
#include "dialects/llm/EnumWord.h"
#include "dialects/llm/Llm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/llm/LlmDialect.cpp.inc"
#include "dialects/llm/LlmEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/llm/LlmAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/llm/LlmOps.cpp.inc"

namespace orrery::llm {

void LlmDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/llm/LlmAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/llm/LlmOps.cpp.inc"
      >();
}

static bool isFilled(RankedTensorType type, int64_t rank) {
  return type.getRank() == rank && type.hasStaticShape() &&
         llvm::all_of(type.getShape(), [](int64_t size) { return size > 0; });
}

bool isRows(RankedTensorType type) {
  return type.getElementType().isF32() && isFilled(type, 2);
}

bool isIds(RankedTensorType type) {
  return type.getElementType().isSignlessInteger(32) && isFilled(type, 1);
}

} // namespace orrery::llm
