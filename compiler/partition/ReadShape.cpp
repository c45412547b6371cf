#include "compiler/partition/ReadShape.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace orrery::partition {

namespace {

/// Which values are live between the ops of a block.
class Lives {
public:
  explicit Lives(Block &block) {
    for (mlir::Operation &op : block) {
      for (Value operand : op.getOperands()) {
        lastUse[operand] = &op;
      }
    }
    for (Value argument : block.getArguments()) {
      if (lastUse.contains(argument)) {
        live.insert(argument);
      }
    }
  }
  /// To be told the ops in order.
  void passed(mlir::Operation &op) {
    live.remove_if([&](Value v) { return lastUse[v] == &op; });
    for (Value result : op.getResults()) {
      if (lastUse.contains(result)) {
        live.insert(result);
      }
    }
  }
  /// The only one, of rows; null when there are more or none.
  Value single() const {
    return live.size() == 1 && isa<RankedTensorType>(live.front().getType())
               ? live.front()
               : Value();
  }
  /// The only one beside `value`, likewise.
  Value singleBeside(Value value) const {
    return live.size() != 2 || !live.contains(value) ? Value()
           : live.front() == value                   ? live.back()
                                                     : live.front();
  }

private:
  llvm::DenseMap<Value, mlir::Operation *> lastUse;
  llvm::SmallSetVector<Value, 8> live;
};

} // namespace

FailureOr<SmallVector<SectionOps>> findSections(func::FuncOp step) {
  SmallVector<SectionOps> sections;
  Block &block = step.getBody().front();
  Lives lives(block);
  SectionOps first{nullptr, {}}, last = first; // places since the last section
  for (mlir::Operation &op : block) {
    bool gated = isa<llm::GatedOp>(op);
    if (gated || isa<llm::AttentionOp>(op)) {
      if (!last.begin) {
        return op.emitOpError("cannot be split off: no place before it at "
                              "which one value is live, the residual stream");
      }
      sections.push_back(last);
      first = last = {nullptr, {}};
    }
    lives.passed(op);
    if (gated) {
      Value stream = lives.singleBeside(op.getResult(0));
      if (!stream) {
        return op.emitOpError("cannot be followed by a stage: expected two "
                              "live values, it and the residual stream");
      }
      sections.push_back({op.getNextNode(), {stream, op.getResult(0)}});
    }
    if (Value stream = lives.single()) {
      last = {op.getNextNode(), {stream}};
      first = first.begin ? first : last;
    }
  }
  if (!first.begin) {
    return step.emitError("no place before the head at which one value is "
                          "live, the residual stream");
  }
  sections.push_back(first);
  return sections;
}

WeightFormat formatOf(llm::WeightFormat format) {
  switch (format) {
  case llm::WeightFormat::Q8_0:
    return WeightFormat::Q8;
  case llm::WeightFormat::Q4_0:
    return WeightFormat::Q4;
  case llm::WeightFormat::F16:
    return WeightFormat::F16;
  }
  llvm_unreachable("covered");
}

namespace {

/// Reads one layer after the other; stops at what is no decoder layer.
class ShapeReader {
public:
  ShapeReader(func::FuncOp step, ArrayRef<SectionOps> sections)
      : step(step), sections(sections) {}

  Expected<StepShape> run();

private:
  bool readLayer(size_t layer);
  bool readSizes(llm::AttentionOp attention, llm::GatedOp gated);
  std::optional<Matrix> matrix(mlir::Operation *op);
  std::optional<Matrix> heads(Value operand);
  template <class Op> Op only(size_t index) const;
  template <class Op> llm::LinearOp reading(Op op) const;

  func::FuncOp step;
  ArrayRef<SectionOps> sections;
  StepShape shape;
  llvm::DenseSet<mlir::Operation *> read;
};

std::optional<Matrix> ShapeReader::matrix(mlir::Operation *op) {
  auto linear = dyn_cast_or_null<llm::LinearOp>(op);
  if (!linear) {
    return std::nullopt;
  }
  read.insert(op);
  return Matrix{linear.getResult().getType().getDimSize(1),
                linear.getX().getType().getDimSize(1),
                formatOf(linear.getFormat())};
}

/// The matrix whose rows are attention heads, perhaps turned by RoPE.
std::optional<Matrix> ShapeReader::heads(Value operand) {
  if (auto rope = operand.getDefiningOp<llm::RopeOp>()) {
    operand = rope.getX();
  }
  return matrix(operand.getDefiningOp());
}

/// The section's only op of a kind.
template <class Op> Op ShapeReader::only(size_t index) const {
  Op found;
  mlir::Operation *end =
      index + 1 < sections.size() ? sections[index + 1].begin : nullptr;
  for (mlir::Operation *op = sections[index].begin; op != end;
       op = op->getNextNode()) {
    if (auto candidate = dyn_cast<Op>(op)) {
      if (found) {
        return {};
      }
      found = candidate;
    }
  }
  return found;
}

/// The only user of an op's result, a product with a matrix.
template <class Op> llm::LinearOp ShapeReader::reading(Op op) const {
  return op.getResult().hasOneUse()
             ? dyn_cast<llm::LinearOp>(*op.getResult().user_begin())
             : llm::LinearOp();
}

bool ShapeReader::readSizes(llm::AttentionOp attention, llm::GatedOp gated) {
  StepShape found = shape;
  found.heads = attention.getHeads();
  found.kvHeads = attention.getKvHeads();
  found.headDim = attention.getHeadDim();
  found.halfKv = attention.getKvFormat() == llm::KvFormat::F16;
  found.ffn = gated.getResult().getType().getDimSize(1);
  Value stream = sections.front().entering.front();
  found.hidden = cast<RankedTensorType>(stream.getType()).getDimSize(1);
  bool same = found == shape;
  if (shape.layers.empty()) {
    shape = std::move(found);
    return true;
  }
  return same;
}

bool ShapeReader::readLayer(size_t layer) {
  auto attention = only<llm::AttentionOp>(kSections * layer);
  auto gated = only<llm::GatedOp>(kSections * layer + 1);
  if (!attention || !gated || !readSizes(attention, gated)) {
    return false;
  }
  auto q = heads(attention.getQ()), k = heads(attention.getK()),
       v = heads(attention.getV()), output = matrix(reading(attention)),
       gate = matrix(gated.getGate().getDefiningOp()),
       up = matrix(gated.getUp().getDefiningOp()),
       down = matrix(reading(gated));
  if (!q || !k || !v || !output || !gate || !up || !down) {
    return false;
  }
  shape.layers.push_back({*q, *k, *v, *output, *gate, *up, *down});
  return true;
}

Expected<StepShape> ShapeReader::run() {
  llm::StepInfo info = llm::stepInfo(step);
  shape.model = info.model.str();
  shape.tokens = info.tokens;
  shape.bucket = info.bucket;
  shape.context = info.context;
  auto refuse = [&](const std::string &what) {
    return Error{shape.model + ": " + what +
                 ": only a decoder as the importer writes it can be split"};
  };
  // Behind the sections stands the head.
  size_t whole = sections.size() - 1, layers = (whole + 2) / kSections;
  if (layers == 0) {
    return refuse("no layers");
  }
  for (size_t layer = 0; layer < layers; ++layer) {
    if (kSections * layer + 2 >= whole || !readLayer(layer)) {
      return refuse("layer " + std::to_string(layer) +
                    " is not q, k, v, attention, output, gate, up and down, "
                    "or not as large as those before it");
    }
  }
  Value logits = step.getBody().front().getTerminator()->getOperand(0);
  auto head = matrix(logits.getDefiningOp());
  if (!head) {
    return refuse("the logits are no product with a matrix");
  }
  shape.head = *head;
  shape.vocab = head->rows;
  size_t linears = 0;
  step.walk([&](llm::LinearOp) { ++linears; });
  if (read.size() != linears || linears != 7 * layers + 1) {
    return refuse("more matrices than seven a layer and a head");
  }
  return std::move(shape);
}

} // namespace

Expected<StepShape> readShape(func::FuncOp step,
                              ArrayRef<SectionOps> sections) {
  return ShapeReader(step, sections).run();
}

} // namespace orrery::partition
