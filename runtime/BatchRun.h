// The reference's side of BatchCheck.h: sequences admitted, prompts read in
// chunks, all that are in decoded together.
#pragma once

#include "runtime/BatchCheck.h"
#include "runtime/ChunkInterpreter.h"
#include "runtime/RowFile.h"
#include "runtime/SeenOp.h"

#include <algorithm>
#include <functional>

namespace orrery::runtime {

/// All ids of a sequence, and what the interpreter has for it alone.
struct SequenceRows {
  std::vector<int32_t> ids;
  size_t prompt = 0;   ///< of them
  size_t firstRow = 0; ///< of its logits, in the file
  std::vector<int32_t> greedy;

  /// The ids of the step that reads position `at`: a chunk of the prompt, or
  /// one behind it.
  std::span<const int32_t> idsOfStep(size_t at) const {
    const size_t size =
        at < prompt ? std::min(size_t(kReferenceChunk), prompt - at) : 1;
    return std::span(ids).subspan(at, size);
  }
};

/// A position of one of the sequences.
struct SequencePlace {
  size_t sequence;
  uint32_t position;

  bool operator==(const SequencePlace &) const = default;
};

/// A row that differs. Where only the choices do, `at` has them as f32, as
/// argmax shows them.
struct RowDifference {
  SequencePlace place;
  BitDifference at;
};

class BatchRun {
public:
  /// The rows of `sequences` are in `logits`; all must outlive the run.
  BatchRun(BatchPool &pool, size_t batch,
           std::span<const SequenceRows> sequences, RowFile &logits,
           std::function<void(const std::string &)> say)
      : pool(pool), batch(batch), sequences(sequences), logits(logits),
        say(std::move(say)) {}

  /// Runs everything, and compares every row with the interpreter's.
  Expected<BatchOutcome> compare();
  /// After compare(): where logits or choice first differ, in order of steps.
  const std::optional<RowDifference> &firstDifferent() const {
    return different;
  }

  /// Runs from the start as far as `place`; each op's row there.
  Expected<std::vector<SeenOp>> opsAt(const SequencePlace &place);

private:
  struct Running {
    size_t index; ///< of sequences
    KvManager::Sequence sequence;
    size_t read = 0;
  };
  /// Told where each row of a step stands, behind it; false ends the run.
  using OnStep = std::function<Expected<bool>(
      const std::vector<SequencePlace> &, const gpu::StepLogits &)>;

  Status run(const OnStep &onStep);
  Status runSteps(const OnStep &onStep);
  Status admit();
  Expected<gpu::StepLogits> step(std::vector<SequencePlace> &places);
  void finishDone();
  Expected<bool> countRows(const std::vector<SequencePlace> &places,
                           const gpu::StepLogits &found);

  BatchPool &pool;
  size_t batch;
  std::span<const SequenceRows> sequences;
  RowFile &logits;
  std::function<void(const std::string &)> say;
  size_t next = 0; ///< who is admitted next
  std::vector<Running> running;
  int64_t steps = 0, greatestStep = 0; ///< of decode
  BitCompare bits;
  std::optional<RowDifference> different;
};

} // namespace orrery::runtime
