#include "compiler/pipeline/Pipeline.h"

#include "compiler/Passes.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace orrery {

#define GEN_PASS_REGISTRATION
#include "compiler/Passes.h.inc"

void buildPartition(OpPassManager &passes, const std::string &machine,
                    const SplitOptions &split, int64_t reach) {
  // What: fold what the model does not need (RoPE of no elements, twins).
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  // Where: refuses what cannot fit, before any work is done on it.
  PlaceStagesOptions place;
  place.machine = machine;
  place.tp = split.tensorParallel;
  place.pp = split.stages;
  place.reach = reach;
  if (!split.products.empty()) {
    place.products = split.products;
  }
  passes.addNestedPass<func::FuncOp>(createPlaceStages(place));
}

void buildPlacement(OpPassManager &passes) {
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
  Option<int64_t> tp{*this, "tp", llvm::cl::desc("chips of a stage; 0: chosen"),
                     llvm::cl::init(0)};
  Option<int64_t> pp{*this, "pp", llvm::cl::desc("stages; 0: chosen"),
                     llvm::cl::init(0)};
  Option<std::string> products{
      *this, "products",
      llvm::cl::desc("how ranks share products: column, row, scatter, reduce"),
      llvm::cl::init("")};
};
} // namespace

void registerAllPasses() {
  registerOrreryPasses();
  PassPipelineRegistration<PipelineOptions>(
      "orrery", "llm to tick, the whole pipeline",
      [](OpPassManager &passes, const PipelineOptions &options) {
        buildPartition(passes, options.machine,
                       {options.tp, options.pp, options.products});
        buildPlacement(passes);
        buildSchedule(passes);
      });
}

} // namespace orrery
