#include "runtime/BatchCheck.h"

#include "runtime/BatchRun.h"
#include "runtime/ChunkInterpreter.h"
#include "runtime/Receipt.h"
#include "runtime/ReferenceCheck.h"

#include <algorithm>

namespace orrery::runtime {
namespace {

/// The interpreter on one text at a time.
class Alone {
public:
  Alone(ChunkInterpreter &interpreter, RowFile &logits)
      : interpreter(interpreter), logits(logits) {}

  /// Ids and choices of `text`; its logits go behind those in the file.
  Expected<SequenceRows> read(const SequenceText &text) {
    SequenceRows rows;
    rows.prompt = text.prompt.size();
    rows.firstRow = logits.rows();
    rows.ids = text.prompt;
    interpreter.reset();
    for (size_t at = 0; at < size_t(text.positions());) {
      auto step = interpreter.run(rows.idsOfStep(at), uint32_t(at));
      if (!step) {
        return step.error();
      }
      if (Status ok = logits.append(step->logits.values); !ok) {
        return ok.error();
      }
      at += step->next.size();
      rows.greedy.insert(rows.greedy.end(), step->next.begin(),
                         step->next.end());
      if (at >= rows.prompt && at < size_t(text.positions())) {
        rows.ids.push_back(step->next.back());
      }
    }
    return rows;
  }

  /// Each op's row at `position` of a text that has been read.
  Expected<std::vector<SeenOp>> opsAt(const SequenceRows &rows,
                                      uint32_t position) {
    std::vector<SeenOp> ops;
    interpreter.reset();
    for (size_t at = 0; at <= position;) {
      const size_t row = position - at;
      interpreter.setObserver(
          [&](mlir::Operation *op, const llm::Tensor &value) {
            if (int64_t(row) < value.rows) {
              ops.push_back(rowOf(seenOp(op, value), int64_t(row)));
            }
          });
      auto step = interpreter.run(rows.idsOfStep(at), uint32_t(at));
      interpreter.setObserver(nullptr);
      if (!step) {
        return step.error();
      }
      at += step->next.size();
    }
    return ops;
  }

private:
  ChunkInterpreter &interpreter;
  RowFile &logits;
};

/// Both sides once more from the start, as far as the place that differs.
OpDifference trace(Alone &alone, BatchRun &together, const SequenceRows &rows,
                   const RowDifference &different) {
  const auto [sequence, position] = different.place;
  OpDifference unknown{"", "logits", different.at, ""};
  auto theirs = alone.opsAt(rows, position);
  if (!theirs) {
    unknown.why = "run again, " + theirs.error().message;
    return unknown;
  }
  auto ours = together.opsAt(different.place);
  if (!ours) {
    unknown.why = "run again, " + ours.error().message;
    return unknown;
  }
  if (auto first = firstOf(*theirs, *ours, position)) {
    return *first;
  }
  unknown.why =
      "no op differs when run op by op (without graph and joined launches)";
  return unknown;
}

} // namespace

std::string BatchOutcome::text() const {
  return counted(sequences, "sequence") + ", " + counted(steps, "decode step") +
         " of up to " + std::to_string(greatestStep) + ", " +
         std::to_string(pagesUsed) + " of " + counted(pages, "KV page");
}

Expected<BatchCheck> BatchCheck::open(const models::WeightSource &weights,
                                      BatchOptions options,
                                      std::span<const int64_t> positions) {
  gpu::ReferenceOptions reference = referenceOptions(options.import);
  reference.batch = options.batch;
  models::ModelConfig config = weights.config();
  config.layers = options.import.layers ? options.import.layers : config.layers;
  int64_t pages = options.pages;
  int64_t longest = 0;
  for (int64_t of : positions) {
    pages += options.pages ? 0 : (of - 1) / kBatchPagePositions + 1;
    longest = std::max(longest, of);
  }
  auto manager = KvManager::create(
      models::kvLayout(config, reference.kv, kBatchPagePositions), pages);
  if (!manager) {
    return manager.error();
  }
  auto alone = manager->admit(longest);
  if (!alone) {
    return alone.error();
  }
  manager->finish(*alone);
  reference.pages = manager->pages();
  auto opened = gpu::Reference::open(weights, reference, options.backend);
  if (!opened) {
    return opened.error();
  }
  return BatchCheck(std::move(options),
                    {std::move(*manager), std::move(*opened)});
}

Expected<BatchOutcome> BatchCheck::run(const models::WeightSource &expected,
                                       std::span<const SequenceText> texts) {
  const auto say = [&](const std::string &what) {
    if (options.progress) {
      options.progress("batched decode: " + what);
    }
  };
  auto interpreter = ChunkInterpreter::open(expected, options.import);
  if (!interpreter) {
    return interpreter.error();
  }
  auto logits = RowFile::create(size_t(expected.config().vocab));
  if (!logits) {
    return logits.error();
  }
  Alone alone(**interpreter, *logits);
  std::vector<SequenceRows> sequences;
  for (const SequenceText &text : texts) {
    say("text " + std::to_string(sequences.size() + 1) + " of " +
        std::to_string(texts.size()) + " alone");
    auto rows = alone.read(text);
    if (!rows) {
      return rows.error();
    }
    sequences.push_back(std::move(*rows));
  }
  pool.reference->reset();
  BatchRun together(pool, size_t(options.batch), sequences, *logits, say);
  auto outcome = together.compare();
  if (!outcome || !together.firstDifferent()) {
    return outcome;
  }
  say("which op differs");
  const RowDifference &different = *together.firstDifferent();
  const size_t sequence = different.place.sequence;
  outcome->first = {sequence,
                    trace(alone, together, sequences[sequence], different)};
  return outcome;
}

} // namespace orrery::runtime
