#include "compiler/Compile.h"

#include "compiler/Passes.h"
#include "compiler/encode/EncodeProgram.h"
#include "compiler/pipeline/Pipeline.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <bit>

using namespace mlir;

namespace orrery {

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, llm::LlmDialect, grid::GridDialect,
                  flow::FlowDialect, tick::TickDialect>();
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

uint64_t modelHash(const models::ModelConfig &config,
                   const compiler::ImportOptions &options) {
  std::string text = config.name;
  for (int64_t n : {config.layers, config.hidden, config.heads, config.kvHeads,
                    config.headDim, config.intermediate, config.vocab,
                    config.ropeDimension, int64_t(config.ropePairing),
                    int64_t(config.tiedEmbeddings), options.layers,
                    int64_t(options.weightFormat), int64_t(options.kvFormat)}) {
    text += '/' + std::to_string(n);
  }
  // Every bit: models may differ in a digit that no decimal text shows.
  text += '/' + std::to_string(std::bit_cast<uint32_t>(config.normEps)) + '/' +
          std::to_string(std::bit_cast<uint64_t>(config.ropeTheta));
  for (const auto &[name, format] : options.tensorFormats) {
    text += '/' + name + '=' + std::to_string(int(format));
  }
  return stableHash(text);
}

namespace {

/// Keeps the first error of MLIR as one line.
class FirstError {
public:
  explicit FirstError(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (message.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error) {
            auto place = dyn_cast<NameLoc>(diagnostic.getLocation());
            message = diagnostic.str();
            // An op's own complaint names its kind, not which one it is.
            if (place && message.starts_with("'")) {
              message = place.getName().str() + ": " + message;
            }
          }
          return success();
        }) {}
  Error error(const char *otherwise) const {
    return {message.empty() ? otherwise : message};
  }

private:
  std::string message;
  ScopedDiagnosticHandler handler;
};

schedule::LowerBounds boundsOf(tick::ProgramOp op) {
  auto number = [&](const char *name) {
    return Tick(op->getAttrOfType<IntegerAttr>(name).getInt());
  };
  return {number(schedule::kCriticalPathAttr), number(schedule::kBusiestAttr),
          op->getAttrOfType<StringAttr>(schedule::kBusiestResourceAttr).str()};
}

} // namespace

Expected<CompiledStep> compileStep(MLIRContext &context,
                                   const models::ModelConfig &config,
                                   const CompileRequest &request) {
  FirstError first(context);
  auto step = compiler::importModel(context, config, request.import);
  if (!step) {
    return first.error("import failed");
  }
  return compileModule(std::move(step), config, request);
}

Expected<CompiledStep> compileModule(OwningOpRef<ModuleOp> step,
                                     const models::ModelConfig &config,
                                     const CompileRequest &request) {
  MLIRContext &context = *step->getContext();
  FirstError first(context);
  CompiledStep out;
  out.step = std::move(step);
  OwningOpRef<ModuleOp> module = out.step->clone();
  OpBuilder b(&context);
  for (auto step : module->getOps<func::FuncOp>()) {
    step->setAttr(
        "llm.model_hash",
        IntegerAttr::get(IntegerType::get(&context, 64, IntegerType::Unsigned),
                         APInt(64, modelHash(config, request.import))));
    step->setAttr("grid.text_base", b.getI64IntegerAttr(request.textBase));
  }
  // In two parts: the image is read off the placed flow.
  PassManager placed(&context), timed(&context);
  buildPlacement(placed, request.machine);
  buildSchedule(timed);
  if (failed(placed.run(*module))) {
    return first.error("placement failed");
  }
  auto flow = *module->getOps<flow::ProgramOp>().begin();
  auto machine = loadMachine(request.machine);
  if (!machine) {
    return machine.error();
  }
  out.image = imagePlan(flow, *machine);
  if (failed(timed.run(*module))) {
    return first.error("scheduling failed");
  }
  auto ticks = *module->getOps<tick::ProgramOp>().begin();
  out.bounds = boundsOf(ticks);
  auto program = compiler::encodeProgram(ticks);
  if (failed(program)) {
    return first.error("encoding failed");
  }
  out.program = std::move(*program);
  for (const SramRegion &r : out.program.regions) {
    if (r.kind == RegionKind::Instructions) {
      out.textVectors += int64_t(r.width) * r.length;
    }
  }
  return out;
}

} // namespace orrery
