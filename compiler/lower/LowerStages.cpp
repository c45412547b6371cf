// grid -> flow: the pass around FlowBuilder.
//
// Input: a step function with one grid.stage. Output: a flow.program beside
// which the function is gone. Invariant: program order of the llm ops.
#include "compiler/Passes.h"

#include "compiler/lower/FlowBuilder.h"

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
    if (stages.size() != 1 || !name) {
      return step.emitError("expected one grid.stage and grid.machine, as "
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
    return emitProgram(step, stages.front(), *machine, name);
  }

  LogicalResult emitProgram(func::FuncOp step, grid::StageOp stage,
                            const Machine &machine, StringAttr name) {
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
        step->getAttrOfType<IntegerAttr>("grid.text_base"));
    b.setInsertionPointToStart(&program.getBody().emplaceBlock());
    FlowBuilder builder(b, machine, info);
    for (mlir::Operation &op : stage.getBody().front().without_terminator()) {
      if (failed(builder.lower(&op))) {
        return failure();
      }
    }
    if (failed(builder.finish(stage.getBody().front().getTerminator()))) {
      return failure();
    }
    step.erase();
    return success();
  }
};

} // namespace
} // namespace orrery
