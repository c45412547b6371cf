#include "compiler/Compile.h"

#include "compiler/Passes.h"
#include "compiler/encode/EncodeProgram.h"
#include "compiler/lower/FlowBuilder.h"
#include "compiler/lower/StageKinds.h"
#include "compiler/partition/SplitStep.h"
#include "compiler/pipeline/JoinStages.h"
#include "compiler/pipeline/StageProducts.h"

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

namespace {

Expected<CompiledPart> finishPart(tick::ProgramOp ticks, ImagePlan image,
                                  Program &program) {
  auto encoded = compiler::encodeProgram(ticks);
  if (failed(encoded)) {
    return Error{""};
  }
  program = std::move(*encoded);
  CompiledPart part{std::move(image), 0, boundsOf(ticks)};
  for (const SramRegion &r : program.regions) {
    if (r.kind == RegionKind::Instructions) {
      part.textVectors += int64_t(r.width) * r.length;
    }
  }
  return part;
}

/// What the partition says, before lowering takes its ops away.
struct Stages {
  std::vector<StageOnChips> stages;
  std::vector<CompiledStage> compiled;
  /// By part.
  std::vector<std::vector<partition::SharedProduct>> products;
  int64_t hidden = 0, logitsEach = 0;
  bool cut = false;
};

Stages readStages(func::FuncOp step) {
  Stages out;
  auto ops = llvm::to_vector(step.getOps<grid::StageOp>());
  out.stages.resize(ops.size());
  out.compiled.resize(ops.size());
  for (auto [part, kind] : llvm::enumerate(stageKinds(ops))) {
    out.products.push_back(stageProducts(ops[kind.stages.front()]));
    for (unsigned s : kind.stages) {
      grid::StageOp op = ops[s];
      out.stages[s] = {
          uint32_t(part), op.getRing(), int32_t(op.getCables()), {}};
      out.stages[s].chips.assign(op.getChips().begin(), op.getChips().end());
      out.compiled[s] = {uint32_t(part), int64_t(op.getFirstLayer()),
                         op.isRelay()};
    }
  }
  auto cut = step->getAttrOfType<BoolAttr>(partition::kCutAttr);
  out.cut = cut && cut.getValue();
  step.walk([&](llm::EmbedOp op) {
    out.hidden = op.getResult().getType().getDimSize(1);
  });
  auto logits = cast<RankedTensorType>(step.getResultTypes().front());
  out.logitsEach = logits.getDimSize(1);
  return out;
}

} // namespace

const CompiledStage &CompiledStep::firstOfPart(uint32_t part) const {
  return *llvm::find_if(stages,
                        [&](const CompiledStage &s) { return s.part == part; });
}

namespace {

/// What the pipeline made of a step, or why not.
class StepCompiler {
public:
  StepCompiler(ModuleOp step, const models::ModelConfig &config,
               const CompileRequest &request)
      : module(step.clone()), config(config), request(request),
        first(*step.getContext()) {}

  Expected<CompiledStep> run();
  /// How it was split, as far as it came to that.
  SplitOptions split() const {
    if (stages.stages.empty()) {
      return {};
    }
    return {int64_t(stages.stages.front().chips.size()),
            llvm::count_if(stages.compiled,
                           [](const CompiledStage &s) { return !s.relay; }),
            request.split.products, stages.cut};
  }

  /// Whether it failed because a chip lacks room.
  bool lacksRoom() {
    return llvm::any_of(module->getOps<flow::ProgramOp>(), [](auto program) {
      return program->hasAttr(kLacksRoomAttr);
    });
  }

private:
  void annotate();
  Status finishParts(CompiledStep &out, std::vector<ImagePlan> images);

  OwningOpRef<ModuleOp> module;
  const models::ModelConfig &config;
  const CompileRequest &request;
  FirstError first;
  Stages stages;
};

void StepCompiler::annotate() {
  OpBuilder b(module->getContext());
  auto function = *module->getOps<func::FuncOp>().begin();
  function->setAttr(
      "llm.model_hash",
      IntegerAttr::get(b.getIntegerType(64, false),
                       APInt(64, modelHash(config, request.import))));
  function->setAttr(kTextBasesAttr, b.getDenseI64ArrayAttr(request.textBases));
  if (request.split.cut) {
    function->setAttr(partition::kCutAttr, b.getBoolAttr(*request.split.cut));
  }
}

Status StepCompiler::finishParts(CompiledStep &out,
                                 std::vector<ImagePlan> images) {
  for (auto [index, ticks] :
       llvm::enumerate(module->getOps<tick::ProgramOp>())) {
    auto part = finishPart(ticks, std::move(images[index]),
                           out.system.parts.emplace_back());
    if (!part) {
      return first.error("encoding failed");
    }
    part->products = std::move(stages.products[index]);
    out.parts.push_back(std::move(*part));
  }
  return Success{};
}

// In parts: stages are read off the grid, images off the placed flow.
Expected<CompiledStep> StepCompiler::run() {
  auto machine = loadMachine(request.machine);
  if (!machine) {
    return machine.error();
  }
  annotate();
  PassManager divided(module->getContext()), placed(module->getContext()),
      timed(module->getContext());
  buildPartition(divided, request.machine, request.split, request.reach);
  buildPlacement(placed);
  buildSchedule(timed);
  if (failed(divided.run(*module))) {
    return first.error("partition failed");
  }
  stages = readStages(*module->getOps<func::FuncOp>().begin());
  if (failed(placed.run(*module))) {
    return first.error("placement failed");
  }
  std::vector<ImagePlan> images;
  for (auto flow : module->getOps<flow::ProgramOp>()) {
    images.push_back(imagePlan(flow, *machine));
  }
  if (failed(timed.run(*module))) {
    return first.error("scheduling failed");
  }
  CompiledStep out;
  Status ok = finishParts(out, std::move(images));
  if (ok) {
    ok = joinStages(out.system, *machine, stages.stages);
  }
  if (!ok) {
    return ok.error();
  }
  out.stages = stages.compiled;
  out.logitsEach = stages.logitsEach;
  out.split = split();
  return out;
}

} // namespace

namespace {

/// What to ask for next when a split lacks room that was said to have it: the
/// same with feed-forward networks cut in two, then a stage more. None: no
/// more is left, or what was asked for leaves no choice.
std::optional<SplitOptions> nextSplit(const SplitOptions &asked,
                                      const SplitOptions &failed) {
  SplitOptions next = failed;
  next.cut = asked.cut;
  if (!asked.cut && !*failed.cut && failed.stages > 1) {
    next.cut = true;
    return next;
  }
  if (asked.stages > 0) {
    return std::nullopt;
  }
  ++next.stages;
  return next;
}

} // namespace

// The choice of a split is by estimated bytes; what padding and fragments add
// is known once all has a place.
Expected<CompiledStep> compileModule(OwningOpRef<ModuleOp> step,
                                     const models::ModelConfig &config,
                                     const CompileRequest &request) {
  CompileRequest attempt = request;
  std::optional<Error> refusal;
  for (;;) {
    StepCompiler compiler(*step, config, attempt);
    auto out = compiler.run();
    if (out) {
      out->step = std::move(step);
      return out;
    }
    if (!refusal) {
      refusal = out.error();
    }
    SplitOptions failed = compiler.split();
    bool placed = failed.stages > 0;
    if (!placed) {
      // Nothing was said to fit, unless it was the cuts that do not.
      failed = attempt.split;
      if (request.split.cut || !failed.cut) {
        return *refusal;
      }
    }
    auto next = nextSplit(request.split, failed);
    if ((placed && !compiler.lacksRoom()) || !next) {
      return *refusal;
    }
    attempt.split = *next;
  }
}

} // namespace orrery
