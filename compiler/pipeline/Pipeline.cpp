#include "compiler/pipeline/Pipeline.h"

#include "compiler/Passes.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace orrery {

#define GEN_PASS_REGISTRATION
#include "compiler/Passes.h.inc"

void buildPlacement(OpPassManager &passes, const std::string &machine) {
  // What: fold what the model does not need (RoPE of no elements, twins).
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  // Where: refuses what cannot fit, before any work is done on it.
  PlaceStagesOptions place;
  place.machine = machine;
  passes.addNestedPass<func::FuncOp>(createPlaceStages(place));
  // How: needs the stage's chip for lanes and planes.
  passes.addPass(createLowerStages());
  // Addresses before ticks: ports decide what may happen together.
  passes.addNestedPass<flow::ProgramOp>(createAllocate());
}

void buildSchedule(OpPassManager &passes) {
  // When: the last unknown; its verifier seals the pipeline.
  passes.addPass(createScheduleTicks());
}

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> machine{*this, "machine",
                              llvm::cl::desc("preset or file"),
                              llvm::cl::init("lpu-v1")};
};
} // namespace

void registerAllPasses() {
  registerOrreryPasses();
  PassPipelineRegistration<PipelineOptions>(
      "orrery", "llm to tick, the whole pipeline",
      [](OpPassManager &passes, const PipelineOptions &options) {
        buildPlacement(passes, options.machine);
        buildSchedule(passes);
      });
}

} // namespace orrery
