#include "runtime/command/EmitIr.h"

#include "compiler/pipeline/Pipeline.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace orrery::command {

static void addPasses(PassManager &passes, const CompileRequest &request,
                      Dialect dialect) {
  if (dialect != Dialect::Llm) {
    buildPartition(passes, request.machine, request.split);
  }
  if (dialect == Dialect::Flow || dialect == Dialect::Tick) {
    buildPlacement(passes);
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
  addPasses(passes, request, dialect);
  if (failed(passes.run(*module))) {
    return Error{problem};
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo());
  return text + "\n";
}

} // namespace orrery::command
