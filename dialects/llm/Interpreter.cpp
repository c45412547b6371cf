// Walks a step op by op. Each handler below fetches what its op needs, and
// leaves the arithmetic to Evaluate.h.
#include "dialects/llm/Interpreter.h"

#include "dialects/llm/Evaluate.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace orrery::llm {

/// "layer 3 attn_q (llm.linear)".
static std::string describe(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto name = dyn_cast<NameLoc>(op->getLoc())) {
    stream << name.getName().getValue();
  } else {
    stream << op->getLoc();
  }
  stream << " (" << op->getName() << ")";
  return text;
}

/// One run of a step.
class StepRun {
public:
  StepRun(Interpreter &interpreter, std::span<const int32_t> ids,
          int64_t position)
      : interpreter(interpreter), position(position), tokens(ids) {}

  Expected<StepOutput> run(func::FuncOp step);

private:
  Status check(func::FuncOp step) const;
  Status execute(Operation *op);
  Status checkFinite(const Tensor &value) const;
  StepOutput output(func::ReturnOp op);

  Expected<Tensor> handle(EmbedOp op);
  Expected<Tensor> handle(RmsNormOp op);
  Expected<Tensor> handle(LinearOp op);
  Expected<Tensor> handle(RopeOp op);
  Expected<Tensor> handle(AttentionOp op);
  Expected<Tensor> handle(AddOp op);
  Expected<Tensor> handle(GatedOp op);
  Expected<Tensor> handle(ArgmaxOp op);

  const Tensor &rows(Value value) { return tensors.find(value)->second; }

  Interpreter &interpreter;
  int64_t position;
  std::span<const int32_t> tokens;
  DenseMap<Value, Tensor> tensors;
  DenseMap<Value, std::vector<int32_t>> ids;
};

Expected<StepOutput> Interpreter::run(func::FuncOp step,
                                      std::span<const int32_t> ids,
                                      uint32_t position) {
  return StepRun(*this, ids, position).run(step);
}

Status StepRun::check(func::FuncOp step) const {
  const std::string name = step.getName().str();
  if (!isStep(step)) {
    return Error{name + ": expected a function with step attributes"};
  }
  const StepInfo info = stepInfo(step);
  const int64_t count = int64_t(tokens.size());
  if (count < 1 || count > info.tokens) {
    return Error{name + ": expected 1 to " + std::to_string(info.tokens) +
                 " tokens, found " + std::to_string(count)};
  }
  if (position + count > info.bucket) {
    return Error{name + ": expected positions below " +
                 std::to_string(info.bucket) + ", found " +
                 std::to_string(position + count - 1)};
  }
  return Success();
}

Expected<StepOutput> StepRun::run(func::FuncOp step) {
  if (Status status = check(step); !status) {
    return status.error();
  }
  ids[step.getArgument(0)].assign(tokens.begin(), tokens.end());
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (Status status = execute(&op); !status) {
      return Error{describe(&op) + ": " + status.error().message};
    }
  }
  return output(cast<func::ReturnOp>(step.getBody().front().getTerminator()));
}

Status StepRun::execute(Operation *op) {
  Expected<Tensor> result =
      TypeSwitch<Operation *, Expected<Tensor>>(op)
          .Case<EmbedOp, RmsNormOp, LinearOp, RopeOp, AttentionOp, AddOp,
                GatedOp, ArgmaxOp>([&](auto op) { return handle(op); })
          .Default([](Operation *) { return Error{"not an op of a step"}; });
  if (!result) {
    return result.error();
  }
  if (Status status = checkFinite(*result); !status) {
    return status;
  }
  if (interpreter.observer) {
    interpreter.observer(op, *result);
  }
  tensors[op->getResult(0)] = std::move(*result);
  return Success();
}

Status StepRun::checkFinite(const Tensor &value) const {
  for (int64_t t = 0; t < value.rows; ++t) {
    for (int64_t i = 0; i < value.width; ++i) {
      if (!std::isfinite(value.row(t)[i])) {
        return Error{"position " + std::to_string(position + t) + ", element " +
                     std::to_string(i) +
                     ": NaN, infinity or an accumulator outside +-2^27"};
      }
    }
  }
  return Success();
}

StepOutput StepRun::output(func::ReturnOp op) {
  StepOutput output;
  output.logits = std::move(tensors[op.getOperand(0)]);
  if (op.getNumOperands() > 1) {
    output.next = std::move(ids[op.getOperand(1)]);
  }
  return output;
}

Expected<Tensor> StepRun::handle(EmbedOp op) {
  const std::vector<int32_t> &tokenIds = ids[op.getIds()];
  for (size_t t = 0; t < tokenIds.size(); ++t) {
    if (tokenIds[t] < 0 || tokenIds[t] >= op.getVocab()) {
      return Error{"position " + std::to_string(position + int64_t(t)) +
                   ": expected an id below " + std::to_string(op.getVocab()) +
                   ", found " + std::to_string(tokenIds[t])};
    }
  }
  auto table = interpreter.weights.matrix(
      op.getTable().str(), op.getFormat(), op.getVocab(),
      op.getResult().getType().getDimSize(1));
  if (!table) {
    return table.error();
  }
  return evaluate(op, tokenIds, *table);
}

Expected<Tensor> StepRun::handle(RmsNormOp op) {
  const Tensor &x = rows(op.getX());
  auto weight = interpreter.weights.vector(op.getWeight().str(), x.width);
  if (!weight) {
    return weight.error();
  }
  return evaluate(op, x, **weight);
}

Expected<Tensor> StepRun::handle(LinearOp op) {
  const Tensor &x = rows(op.getX());
  auto weight = interpreter.weights.matrix(
      op.getWeight().str(), op.getFormat(),
      op.getResult().getType().getDimSize(1), x.width);
  if (!weight) {
    return weight.error();
  }
  return evaluate(op, x, *weight);
}

Expected<Tensor> StepRun::handle(RopeOp op) {
  return evaluate(op, rows(op.getX()), position);
}

Expected<Tensor> StepRun::handle(AttentionOp op) {
  LayerCache &cache =
      interpreter.caches.try_emplace(op.getLayer(), op).first->second;
  if (!cache.fits(op)) {
    return Error{"the cache of this layer was filled in another format or "
                 "shape; reset the interpreter first"};
  }
  if (position > cache.positions()) {
    return Error{"expected position " + std::to_string(cache.positions()) +
                 " or one before it, found " + std::to_string(position)};
  }
  return evaluate(op, rows(op.getQ()), rows(op.getK()), rows(op.getV()), cache,
                  position);
}

Expected<Tensor> StepRun::handle(AddOp op) {
  return evaluate(op, rows(op.getA()), rows(op.getB()));
}

Expected<Tensor> StepRun::handle(GatedOp op) {
  return evaluate(op, rows(op.getGate()), rows(op.getUp()));
}

Expected<Tensor> StepRun::handle(ArgmaxOp op) {
  const std::vector<int32_t> next = evaluate(op, rows(op.getLogits()));
  Tensor result(int64_t(next.size()), 1);
  std::copy(next.begin(), next.end(), result.values.begin());
  ids[op.getResult()] = next;
  return result;
}

} // namespace orrery::llm
