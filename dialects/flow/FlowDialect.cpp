// Registration of the flow dialect; checks of its types.
#include "dialects/flow/FlowSyntax.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/flow/FlowDialect.cpp.inc"
#include "dialects/flow/FlowEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/flow/FlowTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/flow/FlowAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/flow/FlowOps.cpp.inc"

using namespace mlir;

namespace orrery::flow {

// The enums repeat the machine's, case by case.
static_assert(int(AluOp::AddBits) == int(orrery::AluOp::AddBits));
static_assert(int(AluOp::Keep) == int(orrery::AluOp::Keep));
static_assert(int(Reduction::AddSums) == int(orrery::Reduction::AddSums));
static_assert(int(StreamType::Sum) == int(orrery::StreamType::Sum));
static_assert(int(Mask::TokenSpan) == int(LaneMask::TokenSpan));
static_assert(int(Dynamic::Chunk) == int(orrery::Dynamic::Chunk));
static_assert(int(Format::F16) == int(WeightFormat::F16));
static_assert(int(Kind::Kv) == 2);

void FlowDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/flow/FlowTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/flow/FlowAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/flow/FlowOps.cpp.inc"
      >();
}

LogicalResult
BufferType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   uint32_t vectors, StreamType) {
  if (vectors < 1) { // (C1)
    return emitError() << "a buffer has at least 1 vector, found 0";
  }
  return success();
}

LogicalResult
TilesType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  uint32_t tiles, Format format, uint32_t rows,
                  uint32_t width) {
  if (tiles < 1 || rows < 1 || width < 1) { // (C1)
    return emitError() << "tiles, rows and width are at least 1, found "
                       << tiles << ", " << rows << ", " << width;
  }
  bool blocks = format == Format::Q8 || format == Format::Q4;
  if (blocks && rows % 16 != 0) { // (C2)
    return emitError() << stringifyFormat(format)
                       << " tiles have a multiple of 16 rows, found " << rows;
  }
  return success();
}

} // namespace orrery::flow
