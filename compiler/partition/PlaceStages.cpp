// llm -> grid on one chip.
//
// Input: a step function of llm ops. Output: the same function, its ops inside
// one grid.stage, and the machine's name on it. Invariant: a stage that is
// made fits by nominal bytes; what padding adds is found by --flow-allocate.
#include "compiler/Passes.h"

#include "dialects/llm/Llm.h"
#include "machine/Machine.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace orrery {

#define GEN_PASS_DEF_PLACESTAGES
#include "compiler/Passes.h.inc"

namespace {

// Bytes of the matrix as the chip stores it: codes and one f16 scale a block.
int64_t weightBytes(llm::LinearOp op) {
  int64_t rows = op.getResult().getType().getDimSize(1);
  int64_t columns = op.getX().getType().getDimSize(1);
  int64_t blocks = (columns + 31) / 32;
  switch (op.getFormat()) {
  case llm::WeightFormat::Q8_0:
    return rows * blocks * 34;
  case llm::WeightFormat::Q4_0:
    return rows * blocks * 18;
  case llm::WeightFormat::F16:
    return rows * columns * 2;
  }
  return 0;
}

// K and V of all KV heads (not query heads) at full context.
int64_t kvBytes(llm::AttentionOp op, int64_t context) {
  bool half = op.getKvFormat() == llm::KvFormat::F16;
  int64_t row = half ? 2 * op.getHeadDim() : op.getHeadDim() + 2;
  return 2 * context * op.getKvHeads() * row;
}

struct PlaceStagesPass : impl::PlaceStagesBase<PlaceStagesPass> {
  using PlaceStagesBase::PlaceStagesBase;

  void runOnOperation() override {
    func::FuncOp step = getOperation();
    if (!llm::isStep(step)) {
      return;
    }
    Expected<Machine> loaded = loadMachine(machine);
    if (!loaded) {
      step.emitError(loaded.error().message);
      return signalPassFailure();
    }
    int64_t weights = 0, kv = 0;
    int64_t context = llm::stepInfo(step).context;
    step.walk([&](mlir::Operation *op) {
      if (auto linear = dyn_cast<llm::LinearOp>(op)) {
        weights += weightBytes(linear);
      } else if (auto attention = dyn_cast<llm::AttentionOp>(op)) {
        kv += kvBytes(attention, context);
      }
    });
    if (failed(verifyFits(step, *loaded, weights, kv, context))) {
      return signalPassFailure();
    }
    enclose(step, weights, kv, loaded->sramBytes());
  }

private:
  LogicalResult verifyFits(func::FuncOp step, const Machine &chip,
                           int64_t weights, int64_t kv, int64_t context) {
    int64_t have = chip.sramBytes();
    if (weights + kv <= have) {
      return success();
    }
    auto error = step.emitError("does not fit ")
                 << chip.name << ": weights " << weights << " B + KV cache "
                 << kv << " B at " << context << " positions = " << weights + kv
                 << " B, the chip has " << have << " B, " << weights + kv - have
                 << " B too many; ";
    if (weights < have && kv > 0) {
      return error << "no context above " << (have - weights) * context / kv
                   << " positions fits";
    }
    return error << "would need " << (weights + kv + have - 1) / have
                 << " such chips";
  }

  void enclose(func::FuncOp step, int64_t weights, int64_t kv,
               int64_t capacity) {
    Block &body = step.getBody().front();
    mlir::Operation *terminator = body.getTerminator();
    OpBuilder b(terminator);
    step->setAttr(grid::kMachineAttr, b.getStringAttr(machine));
    auto stage = b.create<grid::StageOp>(
        step.getLoc(), terminator->getOperandTypes(),
        b.getDenseI32ArrayAttr({0}), b.getI64IntegerAttr(weights),
        b.getI64IntegerAttr(kv), b.getI64IntegerAttr(capacity));
    Block *inside = b.createBlock(&stage.getBody());
    inside->getOperations().splice(inside->end(), body.getOperations(),
                                   body.begin(), stage->getIterator());
    b.setInsertionPointToEnd(inside);
    b.create<grid::YieldOp>(terminator->getLoc(), terminator->getOperands());
    terminator->setOperands(stage.getResults());
  }
};

} // namespace
} // namespace orrery
