#include "dialects/flow/FlowAccesses.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace orrery::flow {

using Uses = SmallVector<MemoryUse>;

static void append(Uses &uses, OperandRange buffers, ArrayAttr accesses,
                   bool writes) {
  for (auto [buffer, access] :
       llvm::zip(buffers, accesses.getAsRange<AccessAttr>())) {
    uses.push_back({buffer, access, writes});
  }
}

Uses memoryUses(mlir::Operation *op) {
  Uses uses;
  llvm::TypeSwitch<mlir::Operation *>(op)
      .Case([&](VectorOp o) {
        append(uses, o.getInputs(), o.getReads(), false);
        append(uses, o.getOuts(), o.getWrites(), true);
      })
      .Case(
          [&](LoadOp o) { uses.push_back({o.getInput(), o.getRead(), false}); })
      .Case([&](MatmulOp o) {
        uses.push_back({o.getWeights(), {}, false});
        uses.push_back({o.getOut(), o.getWrite(), true});
      })
      .Case([&](PermuteOp o) {
        uses.push_back({o.getInput(), o.getRead(), false});
        append(uses, o.getOuts(), o.getWrites(), true);
      })
      .Case([&](TransposeOp o) {
        uses.push_back({o.getInput(), o.getRead(), false});
        uses.push_back({o.getOut(), {}, true});
      })
      .Case([&](LinkSendOp o) {
        uses.push_back({o.getInput(), o.getRead(), false});
      })
      .Case([&](LinkReceiveOp o) {
        append(uses, o.getOuts(), o.getWrites(), true);
      })
      .Case([&](ReceiveOp o) { uses.push_back({o.getOut(), {}, true}); })
      .Case([&](SendOp o) { uses.push_back({o.getInput(), {}, false}); })
      .Case([&](LogitsOp o) { uses.push_back({o.getBuffer(), {}, false}); });
  return uses;
}

} // namespace orrery::flow
