#include "runtime/FirstDifference.h"

#include "compiler/lower/AxisLayout.h"
#include "dialects/llm/Interpreter.h"
#include "runtime/CutStep.h"

#include <map>

namespace orrery::runtime {
namespace {

mlir::func::FuncOp stepOf(mlir::ModuleOp module) {
  return *module.getOps<mlir::func::FuncOp>().begin();
}

/// The op whose value the step returns first.
mlir::Operation *resultOp(mlir::func::FuncOp step) {
  return step.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
}

/// The elements of the op's value among the lanes that the chip keeps.
std::vector<float> inOrder(mlir::Operation *op, int32_t lanes,
                           std::vector<float> row) {
  auto attention = mlir::dyn_cast<llm::AttentionOp>(op);
  if (!attention || attention.getHeadDim() % 32 != 0) {
    return row;
  }
  auto axis = AxisLayout::ofHeads(int32_t(attention.getHeads()),
                                  int32_t(attention.getKvHeads()),
                                  int32_t(attention.getHeadDim()), lanes);
  std::vector<float> out(size_t(axis.elements));
  for (int32_t j = 0; j < axis.vectors(); ++j) {
    for (int32_t lane = 0; lane < lanes; ++lane) {
      int32_t element = axis.source(j, lane);
      if (element >= 0) {
        out[size_t(element)] = row[size_t(j * lanes + lane)];
      }
    }
  }
  return out;
}

/// Reads ids on both sides and compares.
class Comparison {
public:
  Comparison(const models::WeightSource &weights, Session &session,
             bool isProbe)
      : interpreter(weights), session(session), isProbe(isProbe) {}

  Status read(std::span<const int32_t> ids) {
    while (!ids.empty()) {
      std::span<const int32_t> before = ids;
      auto record = session.readSome(ids);
      if (!record) {
        return record.error();
      }
      auto step = stepOf(session.stepModule(*record->program));
      auto expected = interpreter.run(step, before.first(record->validTokens),
                                      record->position);
      if (!expected) {
        return expected.error();
      }
      for (uint32_t t = 0; t < record->validTokens; ++t) {
        bits.add(record->position + t, std::as_const(expected->logits).row(t),
                 found(step, std::move(record->logits[t])));
      }
    }
    return Success{};
  }

  BitCompare bits;

private:
  std::vector<float> found(mlir::func::FuncOp step, std::vector<float> row) {
    return isProbe ? inOrder(resultOp(step), session.machine().lanes,
                             std::move(row))
                   : row;
  }

  llm::Interpreter interpreter;
  Session &session;
  bool isProbe;
};

/// The bisection, with what each probe found.
class Search {
public:
  Search(const models::WeightSource &weights, const SessionOptions &options,
         const Reading &reading, mlir::func::FuncOp step)
      : weights(weights), options(options), reading(reading) {
    for (mlir::Operation &op : step.getBody().front().without_terminator()) {
      if (!mlir::isa<llm::RopeOp, llm::ArgmaxOp>(op)) {
        ops.push_back(&op);
      }
    }
  }

  Expected<OpDifference> run();

private:
  Expected<bool> differs(size_t index);
  Expected<size_t> bisect();
  Expected<std::optional<size_t>> differingOperand(size_t index);
  std::optional<size_t> indexOf(mlir::Value value) const;

  const models::WeightSource &weights;
  const SessionOptions &options;
  const Reading &reading;
  std::vector<mlir::Operation *> ops;
  std::map<size_t, BitCompare> probed;
};

Expected<bool> Search::differs(size_t index) {
  if (!probed.contains(index)) {
    SessionOptions probe = options;
    probe.upTo = nameOf(ops[index]);
    if (options.progress) {
      options.progress("probing " + probe.upTo);
    }
    probe.progress = nullptr;
    auto compare = compareValues(weights, probe, reading);
    if (!compare) {
      return Error{"probe of " + probe.upTo + ": " + compare.error().message};
    }
    probed[index] = *compare;
  }
  return probed[index].different() > 0;
}

// ops.back() gives the logits: known to differ.
Expected<size_t> Search::bisect() {
  size_t low = 0, high = ops.size() - 1;
  while (low < high) {
    size_t middle = (low + high) / 2;
    auto differing = differs(middle);
    if (!differing) {
      return differing.error();
    }
    (*differing ? high : low) = *differing ? middle : middle + 1;
  }
  return high;
}

// The op that makes `value`; through RoPE.
std::optional<size_t> Search::indexOf(mlir::Value value) const {
  mlir::Operation *op = value.getDefiningOp();
  if (auto rope = mlir::dyn_cast_or_null<llm::RopeOp>(op)) {
    op = rope.getX().getDefiningOp();
  }
  auto found = std::find(ops.begin(), ops.end(), op);
  return found == ops.end() ? std::nullopt
                            : std::optional(size_t(found - ops.begin()));
}

Expected<std::optional<size_t>> Search::differingOperand(size_t index) {
  for (mlir::Value operand : ops[index]->getOperands()) {
    if (auto from = indexOf(operand)) {
      auto differing = differs(*from);
      if (!differing) {
        return differing.error();
      }
      if (*differing) {
        return from;
      }
    }
  }
  return std::optional<size_t>();
}

Expected<OpDifference> Search::run() {
  auto at = bisect();
  if (!at) {
    return at.error();
  }
  size_t index = *at;
  for (;;) {
    auto operand = differingOperand(index);
    if (!operand) {
      return operand.error();
    }
    if (!*operand) {
      break;
    }
    index = **operand;
  }
  auto differing = differs(index);
  if (!differing) {
    return differing.error();
  }
  if (!*differing) {
    return Error{"the logits differ, and no op does when the step is cut "
                 "behind it"};
  }
  return OpDifference{nameOf(ops[index]),
                      ops[index]->getName().getStringRef().str(),
                      *probed[index].first(), ""};
}

} // namespace

Expected<BitCompare> compareValues(const models::WeightSource &weights,
                                   const SessionOptions &options,
                                   const Reading &reading) {
  auto session = Session::open(weights, options);
  if (!session) {
    return session.error();
  }
  Comparison comparison(weights, **session, !options.upTo.empty());
  if (Status ok = comparison.read(reading.ids.first(reading.promptTokens));
      !ok) {
    return ok.error();
  }
  for (size_t i = reading.promptTokens; i < reading.ids.size(); ++i) {
    if (Status ok = comparison.read(reading.ids.subspan(i, 1)); !ok) {
      return ok.error();
    }
  }
  return comparison.bits;
}

/// The reading up to the first position that differs: no op is blamed for what
/// comes after.
static Reading upTo(const Reading &reading, const BitDifference &first) {
  size_t until = size_t(first.position) + 1;
  return {reading.ids.first(until), std::min(reading.promptTokens, until)};
}

Expected<std::optional<OpDifference>>
findFirstDifference(const models::WeightSource &weights,
                    const SessionOptions &options, const Reading &reading) {
  auto logits = compareValues(weights, options, reading);
  if (!logits) {
    return logits.error();
  }
  if (logits->different() == 0) {
    return std::optional<OpDifference>();
  }
  OpDifference split{"", "logits", *logits->first(), ""};
  Reading shorter = upTo(reading, split.at);
  auto session = Session::open(weights, options);
  if (!session) {
    return session.error();
  }
  const SystemProgram &program = *(*session)->programs().front();
  SessionOptions probed = options;
  probed.split = {1, 1};
  if (program.chips.size() > 1) {
    auto oneChip = compareValues(weights, probed, shorter);
    split.why = oneChip
                    ? "one chip gives the interpreter's logits"
                    : "one chip cannot be asked: " + oneChip.error().message;
    if (!oneChip || oneChip->different() == 0) {
      return std::optional(split);
    }
    shorter = upTo(shorter, *oneChip->first());
  }
  auto module = (*session)->stepModule(program);
  auto found = Search(weights, probed, shorter, stepOf(module)).run();
  if (!found) {
    return found.error();
  }
  return std::optional(*found);
}

} // namespace orrery::runtime
