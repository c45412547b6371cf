#include "runtime/command/EmitIr.h"

#include "compiler/Passes.h"
#include "compiler/pipeline/Pipeline.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace orrery::command {

static void addPasses(PassManager &passes, const std::string &machine,
                      Dialect dialect) {
  if (dialect == Dialect::Grid) {
    PlaceStagesOptions place;
    place.machine = machine;
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    passes.addNestedPass<func::FuncOp>(createPlaceStages(place));
  } else if (dialect != Dialect::Llm) {
    buildPlacement(passes, machine);
  }
  if (dialect == Dialect::Tick) {
    buildSchedule(passes);
  }
}

static void setHash(ModuleOp module, uint64_t hash) {
  auto type = IntegerType::get(module.getContext(), 64, IntegerType::Unsigned);
  for (auto step : module.getOps<func::FuncOp>()) {
    step->setAttr("llm.model_hash", IntegerAttr::get(type, APInt(64, hash)));
  }
}

Expected<std::string> emitIr(MLIRContext &context,
                             const models::ModelConfig &config,
                             const CompileRequest &request, Dialect dialect) {
  std::string problem;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (problem.empty() &&
        diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      problem = diagnostic.str();
    }
    return success();
  });
  auto module = compiler::importModel(context, config, request.import);
  if (!module) {
    return Error{problem};
  }
  if (dialect != Dialect::Llm) {
    setHash(*module, modelHash(config, request.import));
  }
  PassManager passes(&context);
  addPasses(passes, request.machine, dialect);
  if (failed(passes.run(*module))) {
    return Error{problem};
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo());
  return text + "\n";
}

} // namespace orrery::command
