// The one list of what Orrery adds to MLIR.
#include "compiler/Register.h"

#include "compiler/import/ImportGguf.h"
#include "dialects/llm/Llm.h"
#ifdef ORRERY_WITH_GRID
#include "dialects/grid/Grid.h"
#endif
#ifdef ORRERY_WITH_FLOW
#include "dialects/flow/Flow.h"
#endif
#ifdef ORRERY_WITH_TICK
#include "dialects/tick/Tick.h"
#endif
#ifdef ORRERY_WITH_PASSES
#include "compiler/Passes.h"
#endif

#include "mlir/Transforms/Passes.h"

namespace orrery {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, llm::LlmDialect>();
#ifdef ORRERY_WITH_GRID
  registry.insert<grid::GridDialect>();
#endif
#ifdef ORRERY_WITH_FLOW
  registry.insert<flow::FlowDialect>();
#endif
#ifdef ORRERY_WITH_TICK
  registry.insert<tick::TickDialect>();
#endif
}

void registerPasses() {
  mlir::registerTransformsPasses();
#ifdef ORRERY_WITH_PASSES
  registerAllPasses();
#endif
}

void registerTranslations() { compiler::registerImportGguf(); }

} // namespace orrery
