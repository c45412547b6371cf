// llm -> grid: a step's ops into stages on chips.
//
// Input: a step function of llm ops. Output: the same function, its ops inside
// grid.stages, and the machine's name on it. Invariant: a stage that is made
// fits by nominal bytes; what padding adds is found by --flow-allocate.
//
// On one chip nothing is chosen. Otherwise the step's shape is read, a split is
// chosen and placed (Partition.h), and each stage gets the ops of one rank.
#include "compiler/Passes.h"

#include "compiler/partition/Partition.h"
#include "compiler/partition/SplitStep.h"
#include "machine/Machine.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace orrery {

#define GEN_PASS_DEF_PLACESTAGES
#include "compiler/Passes.h.inc"

namespace {

struct PlaceStagesPass : impl::PlaceStagesBase<PlaceStagesPass> {
  using PlaceStagesBase::PlaceStagesBase;

  void runOnOperation() override {
    func::FuncOp step = getOperation();
    if (!llm::isStep(step)) {
      return;
    }
    Expected<Machine> loaded = loadMachine(machine);
    if (!loaded) {
      step.emitError(loaded.error().message);
      return signalPassFailure();
    }
    if (failed(verifyFormats(step))) {
      return signalPassFailure();
    }
    bool one =
        loaded->system.chips == 1 ? tp <= 1 && pp <= 1 : tp == 1 && pp == 1;
    if (failed(one ? onOneChip(step, *loaded) : onMany(step, *loaded))) {
      return signalPassFailure();
    }
    step->setAttr(grid::kMachineAttr, StringAttr::get(&getContext(), machine));
  }

private:
  LogicalResult onOneChip(func::FuncOp step, const Machine &chip) {
    if (failed(verifyFits(step, chip))) {
      return failure();
    }
    partition::StageSite site{0, {0}};
    return partition::splitStep(step, {}, site, {}, chip.sramBytes());
  }

  LogicalResult onMany(func::FuncOp step, const Machine &system) {
    auto sections = partition::findSections(step);
    if (failed(sections)) {
      return failure();
    }
    auto shape = partition::readShape(step, *sections);
    if (!shape) {
      return step.emitError(shape.error().message);
    }
    // For one token at full reach, whatever this step is: programs of a set
    // work on the same weights and caches, so on the same split.
    shape->tokens = 1;
    shape->bucket = shape->context;
    if (reach > 0) {
      shape->bucket = std::min<int64_t>(reach, shape->context);
    }
    auto objective = throughput ? partition::Objective::Throughput
                                : partition::Objective::Latency;
    auto asked = productsOf(step);
    if (failed(asked)) {
      return failure();
    }
    auto cut = step->getAttrOfType<BoolAttr>(partition::kCutAttr);
    auto split = partition::chooseSplit(
        system, *shape,
        {tp, pp, objective, *asked,
         cut ? std::optional(cut.getValue()) : std::nullopt});
    if (!split) {
      return step.emitError(split.error().message);
    }
    step->setAttr(partition::kCutAttr,
                  BoolAttr::get(&getContext(), split->cut));
    SmallVector<partition::StageSite> sites;
    size_t stage = 0;
    for (const partition::PlacedStage &placed : split->placement.stages) {
      sites.push_back(
          {split->stages[stage].first, llvm::to_vector(placed.chips)});
      stage += placed.relay ? 0 : 1;
    }
    partition::TickModel ticks(system, *shape, split->tp, split->placement.ring,
                               *asked);
    return partition::splitStep(
        step, *sections, sites,
        {split->placement.ring, split->placement.cables}, system.sramBytes(),
        [&](llm::LinearOp op) { return formOf(op, ticks); });
  }

  FailureOr<partition::Products> productsOf(func::FuncOp step) {
    using partition::Products;
    auto found = llvm::StringSwitch<std::optional<Products>>(products)
                     .Case("chosen", Products::Chosen)
                     .Case("column", Products::Column)
                     .Case("row", Products::Row)
                     .Case("scatter", Products::Scatter)
                     .Case("reduce", Products::Reduce)
                     .Default({});
    if (!found) {
      return step.emitError("products: expected chosen, column, row, scatter "
                            "or reduce, found ")
             << products;
    }
    return *found;
  }

  // Only two products of a layer take what ranks have shards of.
  static partition::ProductForm formOf(llm::LinearOp op,
                                       const partition::TickModel &ticks) {
    mlir::Operation *made = op.getX().getDefiningOp();
    if (!isa_and_nonnull<llm::AttentionOp, llm::GatedOp>(made)) {
      return partition::ProductForm::Column;
    }
    partition::Matrix matrix{op.getResult().getType().getDimSize(1),
                             op.getX().getType().getDimSize(1),
                             partition::formatOf(op.getFormat())};
    return ticks.form(isa<llm::AttentionOp>(made)
                          ? partition::Section::Attention
                          : partition::Section::Down,
                      matrix);
  }

  /// Interpreter and GPUs know KV formats that no chip has.
  static LogicalResult verifyFormats(func::FuncOp step) {
    bool q4 = false;
    step.walk([&](llm::AttentionOp op) {
      q4 |= op.getKvFormat() == llm::KvFormat::Q4;
    });
    if (q4) {
      return step.emitError("KV format q4: chips hold KV caches in f16 or q8");
    }
    return success();
  }

  LogicalResult verifyFits(func::FuncOp step, const Machine &chip) {
    int64_t weights = 0, kv = 0;
    int64_t context = llm::stepInfo(step).context;
    step.walk([&](mlir::Operation *op) {
      if (auto linear = dyn_cast<llm::LinearOp>(op)) {
        weights += partition::nominalBytes(linear);
      } else if (auto attention = dyn_cast<llm::AttentionOp>(op)) {
        kv += partition::nominalBytes(attention);
      }
    });
    int64_t have = chip.sramBytes();
    if (weights + kv <= have) {
      return success();
    }
    auto error = step.emitError("does not fit ")
                 << chip.name << ": weights " << weights << " B + KV cache "
                 << kv << " B at " << context << " positions = " << weights + kv
                 << " B, the chip has " << have << " B, " << weights + kv - have
                 << " B too many; ";
    if (weights < have && kv > 0) {
      return error << "no context above " << (have - weights) * context / kv
                   << " positions fits";
    }
    return error << "would need " << (weights + kv + have - 1) / have
                 << " such chips";
  }
};

} // namespace
} // namespace orrery
