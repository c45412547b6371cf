#include "runtime/BatchCheck.h"

#include "dialects/llm/Interpreter.h"
#include "runtime/BatchRun.h"
#include "runtime/CutStep.h"
#include "runtime/Receipt.h"
#include "runtime/ReferenceCheck.h"

#include "mlir/IR/MLIRContext.h"

namespace orrery::runtime {
namespace {

/// The interpreter on one text at a time.
class Alone {
public:
  static Expected<std::unique_ptr<Alone>>
  open(const models::WeightSource &weights, compiler::ImportOptions options) {
    std::unique_ptr<Alone> alone(new Alone(weights));
    if (options.context == 0) {
      options.context = weights.config().contextLength;
    }
    options.tokens = std::min(kBatchChunk, options.context);
    options.bucket = 0;
    alone->module =
        compiler::importModel(alone->context, weights.config(), options);
    if (!alone->module) {
      return Error{"the model does not import"};
    }
    return Expected<std::unique_ptr<Alone>>(std::move(alone));
  }

  /// Everything it has for `text`.
  Expected<SequenceRows> read(const SequenceText &text) {
    SequenceRows rows;
    rows.prompt = text.prompt.size();
    rows.vocab = size_t(weights.config().vocab);
    rows.ids = text.prompt;
    interpreter.reset();
    for (size_t at = 0; at < size_t(text.positions());) {
      auto step = run(rows, at);
      if (!step) {
        return step.error();
      }
      at += step->next.size();
      rows.logits.insert(rows.logits.end(), step->logits.values.begin(),
                         step->logits.values.end());
      rows.greedy.insert(rows.greedy.end(), step->next.begin(),
                         step->next.end());
      if (at >= rows.prompt && at < size_t(text.positions())) {
        rows.ids.push_back(step->next.back());
      }
    }
    return rows;
  }

  /// Each op's row at `position` of a text that has been read.
  Expected<std::vector<OpRow>> opsAt(const SequenceRows &rows,
                                     uint32_t position) {
    std::vector<OpRow> ops;
    interpreter.reset();
    for (size_t at = 0; at <= position;) {
      const size_t row = position - at;
      ops.clear();
      interpreter.setObserver(
          [&](mlir::Operation *op, const llm::Tensor &value) {
            if (int64_t(row) < value.rows) {
              const auto values = value.row(int64_t(row));
              ops.push_back({nameOf(op),
                             op->getName().getStringRef().str(),
                             {values.begin(), values.end()}});
            }
          });
      auto step = run(rows, at);
      interpreter.setObserver(nullptr);
      if (!step) {
        return step.error();
      }
      at += step->next.size();
    }
    return ops;
  }

private:
  explicit Alone(const models::WeightSource &weights)
      : weights(weights), interpreter(weights) {}

  /// The step that reads position `at`.
  Expected<llm::StepOutput> run(const SequenceRows &rows, size_t at) {
    auto step = interpreter.run(*module->getOps<mlir::func::FuncOp>().begin(),
                                rows.idsOfStep(at), uint32_t(at));
    return step ? std::move(step)
                : Error{"interpreter: " + step.error().message};
  }

  const models::WeightSource &weights;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llm::Interpreter interpreter;
};

/// The first op that has another row on the reference.
OpDifference firstOf(const std::vector<OpRow> &expected,
                     const std::vector<OpRow> &found, uint32_t position) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const OpRow &e = expected[i];
    if (i >= found.size() || found[i].op != e.op) {
      return {e.op,
              e.kind,
              {position, 0, 0, 0},
              "the reference shows no value of it there"};
    }
    BitCompare bits;
    bits.add(position, e.values, found[i].values);
    if (bits.different() > 0) {
      return {e.op, e.kind, *bits.first(), ""};
    }
  }
  return {"", "logits", {position, 0, 0, 0}, "read again, no op differs"};
}

} // namespace

std::string BatchOutcome::text() const {
  return counted(sequences, "sequence") + ", " + counted(steps, "decode step") +
         " of up to " + std::to_string(greatestStep) + ", " +
         std::to_string(pagesUsed) + " of " + counted(pages, "KV page");
}

Expected<BatchOutcome> checkBatch(const models::WeightSource &weights,
                                  const models::WeightSource &expected,
                                  const BatchOptions &options,
                                  std::span<const SequenceText> texts,
                                  bool *tooBig) {
  auto alone = Alone::open(expected, options.import);
  if (!alone) {
    return alone.error();
  }
  std::vector<SequenceRows> sequences;
  for (const SequenceText &text : texts) {
    auto rows = (*alone)->read(text);
    if (!rows) {
      return rows.error();
    }
    sequences.push_back(std::move(*rows));
  }
  auto together = BatchRun::open(weights, options, sequences);
  if (!together) {
    if (tooBig) {
      *tooBig = true;
    }
    return together.error();
  }
  auto outcome = together->compare();
  if (!outcome || !together->firstDifferent()) {
    return outcome;
  }
  // Once more from the start, as far as the place that differs.
  const auto [sequence, position] = *together->firstDifferent();
  auto theirs = (*alone)->opsAt(sequences[sequence], position);
  auto again = BatchRun::open(weights, options, sequences);
  if (!theirs || !again) {
    return theirs ? again.error() : theirs.error();
  }
  auto ours = again->opsAt({sequence, position});
  if (!ours) {
    return ours.error();
  }
  outcome->first = {sequence, firstOf(*theirs, *ours, position)};
  return outcome;
}

} // namespace orrery::runtime
