// The reference's side of BatchCheck.h: sequences admitted, prompts read in
// chunks, all that are in decoded together.
#pragma once

#include "runtime/BatchCheck.h"
#include "runtime/KvManager.h"

#include <algorithm>
#include <functional>
#include <memory>

namespace orrery::runtime {

/// Tokens of a prompt's chunk: what fills the reference's matrix units.
inline constexpr int64_t kBatchChunk = 32;

/// All ids of a sequence, and what the interpreter has for it alone.
struct SequenceRows {
  std::vector<int32_t> ids;
  size_t prompt = 0; ///< of them
  size_t vocab = 0;
  std::vector<float> logits; ///< [ids][vocab]
  std::vector<int32_t> greedy;

  std::span<const float> row(size_t position) const {
    return std::span(logits).subspan(position * vocab, vocab);
  }
  /// The ids of the step that reads position `at`: a chunk of the prompt, or
  /// one behind it.
  std::span<const int32_t> idsOfStep(size_t at) const {
    const size_t size =
        at < prompt ? std::min(size_t(kBatchChunk), prompt - at) : 1;
    return std::span(ids).subspan(at, size);
  }
};

/// One op's row at one position.
struct OpRow {
  std::string op, kind;
  std::vector<float> values;
};

/// A position of one of the sequences.
struct SequencePlace {
  size_t sequence;
  uint32_t position;

  bool operator==(const SequencePlace &) const = default;
};

class BatchRun {
public:
  /// `sequences` must outlive the run.
  static Expected<BatchRun> open(const models::WeightSource &weights,
                                 const BatchOptions &options,
                                 std::span<const SequenceRows> sequences);

  /// Runs everything, and compares every row with the interpreter's.
  Expected<BatchOutcome> compare();
  /// After compare(): where logits or choice first differ, in order of steps.
  const std::optional<SequencePlace> &firstDifferent() const {
    return different;
  }

  /// Runs as far as `place`; each op's row there.
  Expected<std::vector<OpRow>> opsAt(const SequencePlace &place);

private:
  BatchRun(std::span<const SequenceRows> sequences, int64_t batch,
           KvManager manager, std::unique_ptr<gpu::Reference> reference)
      : sequences(sequences), batch(size_t(batch)), manager(std::move(manager)),
        reference(std::move(reference)) {}

  struct Running {
    size_t index; ///< of sequences
    KvManager::Sequence sequence;
    size_t read = 0;
  };
  /// Told where each row of a step stands, behind it; false ends the run.
  using OnStep = std::function<bool(const std::vector<SequencePlace> &,
                                    const gpu::StepLogits &)>;

  Status run(const OnStep &onStep);
  Status admit();
  Expected<gpu::StepLogits> step(std::vector<SequencePlace> &places);
  void finishDone();
  bool countRows(const std::vector<SequencePlace> &places,
                 const gpu::StepLogits &logits);

  std::span<const SequenceRows> sequences;
  size_t batch;
  KvManager manager;
  std::unique_ptr<gpu::Reference> reference;
  size_t next = 0; ///< who is admitted next
  std::vector<Running> running;
  BatchOutcome outcome;
  std::optional<SequencePlace> different;
};

} // namespace orrery::runtime
