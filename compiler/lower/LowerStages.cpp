// grid -> flow: the pass around FlowBuilder.
//
// Input: a step function of grid.stages. Output: a flow.program for each kind
// of stage, in order of their first, beside which the function is gone.
// Invariant: program order of the llm ops.
#include "compiler/Passes.h"

#include "compiler/lower/FlowBuilder.h"
#include "compiler/lower/StageKinds.h"

using namespace mlir;

namespace orrery {

#define GEN_PASS_DEF_LOWERSTAGES
#include "compiler/Passes.h.inc"

namespace {

struct LowerStagesPass : impl::LowerStagesBase<LowerStagesPass> {
  using LowerStagesBase::LowerStagesBase;

  void runOnOperation() override {
    auto steps = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp step : steps) {
      if (llm::isStep(step) && failed(lowerStep(step))) {
        return signalPassFailure();
      }
    }
  }

private:
  LogicalResult lowerStep(func::FuncOp step) {
    auto stages = llvm::to_vector(step.getOps<grid::StageOp>());
    auto name = step->getAttrOfType<StringAttr>(grid::kMachineAttr);
    if (stages.empty() || !name) {
      return step.emitError("expected grid.stages and grid.machine, as "
                            "--grid-place-stages leaves them");
    }
    Expected<Machine> machine = loadMachine(name.str());
    if (!machine) {
      return step.emitError(machine.error().message);
    }
    if (ChipLayout(*machine).groups < 1) {
      return step.emitError("machine ")
             << machine->name << ": " << machine->sram.slicesPerHemisphere
             << " slices a hemisphere leave no room for a weight group of "
             << machine->matrix.installStreams << " beside "
             << ChipLayout::kMinDataSlices << " data slices";
    }
    if (failed(verifyRopes(step))) {
      return failure();
    }
    auto bases = step->getAttrOfType<DenseI64ArrayAttr>(kTextBasesAttr);
    for (auto [index, kind] : llvm::enumerate(stageKinds(stages))) {
      int64_t base = bases && index < size_t(bases.size()) ? bases[index] : 0;
      if (failed(emitProgram(step, stages[kind.stages.front()], *machine, name,
                             base))) {
        return failure();
      }
    }
    step.erase();
    return success();
  }

  // One row a position, from the host to all stages.
  static LogicalResult verifyRopes(func::FuncOp step) {
    llm::RopeOp first;
    WalkResult alike = step.walk([&](llm::RopeOp op) {
      first = first ? first : op;
      if (first.getTheta() == op.getTheta() &&
          first.getRopeDim() == op.getRopeDim() &&
          first.getPairing() == op.getPairing() &&
          first.getHeadDim() == op.getHeadDim()) {
        return WalkResult::advance();
      }
      auto error = op.emitOpError("turns unlike an earlier llm.rope: the host "
                                  "sends one row a position");
      error.attachNote(first.getLoc()) << "the earlier one";
      return WalkResult::interrupt();
    });
    return failure(alike.wasInterrupted());
  }

  LogicalResult emitProgram(func::FuncOp step, grid::StageOp stage,
                            const Machine &machine, StringAttr name,
                            int64_t textBase) {
    StageGroup group{int32_t(stage.getTp()), stage.getRing(),
                     int32_t(stage.getCables())};
    bool alone = llvm::hasSingleElement(step.getOps<grid::StageOp>());
    int64_t links = int64_t(group.links()) + (alone ? 0 : group.cables);
    if (links > machine.link.ports) {
      return stage.emitOpError("needs ")
             << links << " links, a chip of " << machine.name << " has "
             << machine.link.ports << " ports";
    }
    llm::StepInfo info = llm::stepInfo(step);
    OpBuilder b(step);
    // The chip keeps whole position tiles.
    int64_t lanes = machine.lanes;
    info.context = (info.context + lanes - 1) / lanes * lanes;
    info.bucket = (info.bucket + lanes - 1) / lanes * lanes;
    auto program = b.create<flow::ProgramOp>(
        step.getLoc(), name, b.getStringAttr(info.model),
        b.getI64IntegerAttr(info.tokens), b.getI64IntegerAttr(info.bucket),
        b.getI64IntegerAttr(info.context),
        step->getAttrOfType<IntegerAttr>("llm.model_hash"),
        textBase > 0 ? b.getI64IntegerAttr(textBase) : IntegerAttr(),
        stage.getTp() > 1 ? b.getI64IntegerAttr(group.links()) : IntegerAttr());
    b.setInsertionPointToStart(&program.getBody().emplaceBlock());
    FlowBuilder builder(b, machine, info, group);
    if (!isFirst(step, stage)) {
      receivePositions(step, stage, machine, builder);
      receiveInputs(stage, builder);
    }
    for (mlir::Operation &op : stage.getBody().front().without_terminator()) {
      if (failed(builder.lower(&op))) {
        return failure();
      }
      if (isa<llm::EmbedOp>(op)) {
        receivePositions(step, stage, machine, builder);
      }
    }
    return builder.finish(stage);
  }

  // Attention at or after a stage, whose K says how positions turn.
  static llm::AttentionOp attentionFrom(func::FuncOp step,
                                        grid::StageOp stage) {
    bool reached = false;
    llm::AttentionOp found;
    for (grid::StageOp each : step.getOps<grid::StageOp>()) {
      reached |= each == stage;
      each.walk([&](llm::AttentionOp op) {
        if (reached && !found && op.getK().getDefiningOp<llm::RopeOp>()) {
          found = op;
        }
      });
    }
    return found;
  }

  static bool isFirst(func::FuncOp step, grid::StageOp stage) {
    return stage == *step.getOps<grid::StageOp>().begin();
  }

  // The rows of positions go on at once to stages that need them: behind the
  // embedding, which the first layer waits for, and before what a stage passes
  // on at its end.
  static void receivePositions(func::FuncOp step, grid::StageOp stage,
                               const Machine &machine, FlowBuilder &builder) {
    llm::AttentionOp attention = attentionFrom(step, stage);
    if (!attention) {
      return;
    }
    auto rope = attention.getK().getDefiningOp<llm::RopeOp>();
    auto axis = AxisLayout::ofHeads(
        int32_t(attention.getKvHeads()), int32_t(attention.getKvHeads()),
        int32_t(attention.getHeadDim()), machine.lanes);
    builder.receiveRope(rope, axis, isFirst(step, stage));
    auto next = dyn_cast_or_null<grid::StageOp>(stage->getNextNode());
    if (next && attentionFrom(step, next)) {
      builder.passRopeOn(rope.getLoc());
    }
  }

  // What the stage before passes on, in its order.
  static void receiveInputs(grid::StageOp stage, FlowBuilder &builder) {
    mlir::Operation *before = stage->getPrevNode();
    SmallVector<Value> given;
    llvm::copy_if(before->getResults(), std::back_inserter(given), isPassedOn);
    builder.receive(given, stage.getLoc());
  }
};

} // namespace
} // namespace orrery
