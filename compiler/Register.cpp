// The one list of what Orrery adds to MLIR.
#include "compiler/Register.h"

#include "compiler/Passes.h"
#include "compiler/encode/Translate.h"
#include "compiler/import/ImportGguf.h"
#include "dialects/flow/Flow.h"
#include "dialects/grid/Grid.h"
#include "dialects/llm/Llm.h"
#include "dialects/tick/Tick.h"

#include "mlir/Transforms/Passes.h"

namespace orrery {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, llm::LlmDialect, grid::GridDialect,
                  flow::FlowDialect, tick::TickDialect>();
}

void registerPasses() {
  mlir::registerTransformsPasses();
  registerAllPasses();
}

void registerTranslations() {
  compiler::registerImportGguf();
  compiler::registerProgramTranslations();
}

} // namespace orrery
