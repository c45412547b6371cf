#include "compiler/partition/SplitStep.h"

using namespace mlir;

namespace orrery::partition {

Bytes nominalBytes(llm::LinearOp op) {
  int64_t rows = op.getResult().getType().getDimSize(1);
  int64_t columns = op.getX().getType().getDimSize(1);
  return nominalBytes(Matrix{rows, columns, formatOf(op.getFormat())}, rows);
}

Bytes nominalBytes(llm::AttentionOp op) {
  StepShape shape;
  shape.context = op.getContextAttr().getInt();
  shape.headDim = op.getHeadDim();
  shape.halfKv = op.getKvFormat() == llm::KvFormat::F16;
  return nominalKvBytes(shape, op.getKvHeads());
}

namespace {

class StepSplitter {
public:
  StepSplitter(func::FuncOp step, ArrayRef<SectionOps> sections,
               ArrayRef<StageSite> sites, StageLinks links, Bytes capacity,
               FormOf formOf)
      : step(step), sections(sections), sites(sites), links(links),
        capacity(capacity), formOf(std::move(formOf)),
        terminator(step.getBody().front().getTerminator()), end(terminator) {}

  LogicalResult run();

private:
  LogicalResult addStage(size_t index);
  bool isLast(size_t index) const { return index + 1 == sites.size(); }
  /// The first op of a stage; behind the last one, what follows the step's own
  /// ops.
  mlir::Operation *begin(size_t index);
  /// What stage `index` is given by the one before.
  ArrayRef<Value> entering(size_t index) const {
    return sections[size_t(sites[index].first)].entering;
  }
  bool leavesFor(size_t index, mlir::Operation *op);
  SmallVector<Value> yielded(RankBuilder &rank, size_t index);
  grid::StageOp enclose(size_t index, Block *body, ArrayRef<Value> values);

  func::FuncOp step;
  ArrayRef<SectionOps> sections;
  ArrayRef<StageSite> sites;
  StageLinks links;
  Bytes capacity;
  FormOf formOf;
  mlir::Operation *terminator, *end;
  grid::StageOp stage; ///< the last one made
};

mlir::Operation *StepSplitter::begin(size_t index) {
  return index == 0              ? &step.getBody().front().front()
         : index == sites.size() ? end
                                 : sections[size_t(sites[index].first)].begin;
}

// The step's results, or what the next stage is given.
SmallVector<Value> StepSplitter::yielded(RankBuilder &rank, size_t index) {
  SmallVector<Value> values;
  if (!isLast(index)) {
    for (Value value : entering(index + 1)) {
      values.push_back(rank.passOn(value));
    }
    return values;
  }
  SmallVector<Type> types;
  for (auto [number, result] : llvm::enumerate(terminator->getOperands())) {
    grid::ShardAttr shard;
    values.push_back(rank.result(result, shard));
    types.push_back(values.back().getType());
    if (shard) {
      step.setResultAttr(unsigned(number), grid::kShardAttr, shard);
    }
  }
  step.setFunctionType(FunctionType::get(
      step.getContext(), step.getFunctionType().getInputs(), types));
  return values;
}

grid::StageOp StepSplitter::enclose(size_t index, Block *body,
                                    ArrayRef<Value> values) {
  Bytes weights = 0, kv = 0;
  for (mlir::Operation &op : *body) {
    if (auto linear = dyn_cast<llm::LinearOp>(op)) {
      weights += nominalBytes(linear);
    } else if (auto attention = dyn_cast<llm::AttentionOp>(op)) {
      kv += nominalBytes(attention);
    }
  }
  OpBuilder b(step.getContext());
  b.setInsertionPointToEnd(body);
  b.create<grid::YieldOp>(terminator->getLoc(), values);
  b.setInsertionPoint(terminator);
  const StageSite &site = sites[index];
  auto made = b.create<grid::StageOp>(
      step.getLoc(), TypeRange(ValueRange(values)),
      b.getDenseI32ArrayAttr(site.chips),
      links.ring ? b.getUnitAttr() : UnitAttr(),
      b.getI64IntegerAttr(site.first / kSections),
      b.getI32IntegerAttr(links.cables), b.getI64IntegerAttr(weights),
      b.getI64IntegerAttr(kv), b.getI64IntegerAttr(capacity));
  made.getBody().push_back(body);
  return made;
}

/// Whether only the stages from `index` on use what `op` makes.
bool StepSplitter::leavesFor(size_t index, mlir::Operation *op) {
  return index < sites.size() &&
         llvm::any_of(
             op->getResults(),
             [&](Value v) { return llvm::is_contained(entering(index), v); }) &&
         llvm::none_of(
             op->getUsers(),
             [&](mlir::Operation *user) {
               return user->isBeforeInBlock(begin(index));
             });
}

LogicalResult StepSplitter::addStage(size_t index) {
  auto body = std::make_unique<Block>();
  RankBuilder rank(step.getContext(), *body, int64_t(sites[index].chips.size()),
                   formOf);
  if (index == 0) {
    for (Value argument : step.getArguments()) {
      rank.enterWhole(argument);
    }
  } else {
    for (auto [value, given] :
         llvm::zip_equal(entering(index), stage.getResults())) {
      rank.enterFromStage(value, given);
    }
  }
  for (mlir::Operation *op = begin(index); op != begin(index + 1);
       op = op->getNextNode()) {
    if (failed(rank.add(op, leavesFor(index + 1, op)))) {
      return failure();
    }
  }
  SmallVector<Value> values = yielded(rank, index);
  stage = enclose(index, body.release(), values);
  end = index == 0 ? stage : end;
  return success();
}

// Stages stand behind the old ops until these are all translated.
LogicalResult StepSplitter::run() {
  SmallVector<mlir::Operation *> old;
  for (mlir::Operation &op : step.getBody().front().without_terminator()) {
    old.push_back(&op);
  }
  for (size_t index = 0; index < sites.size(); ++index) {
    if (failed(addStage(index))) {
      return failure();
    }
  }
  terminator->setOperands(stage.getResults());
  for (mlir::Operation *op : llvm::reverse(old)) {
    op->erase();
  }
  return success();
}

} // namespace

LogicalResult splitStep(func::FuncOp step, ArrayRef<SectionOps> sections,
                        ArrayRef<StageSite> sites, StageLinks links,
                        Bytes capacityOfChip, FormOf formOf) {
  return StepSplitter(step, sections, sites, links, capacityOfChip,
                      std::move(formOf))
      .run();
}

} // namespace orrery::partition
