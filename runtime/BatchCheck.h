// Batched decode on the CUDA reference against the interpreter: several
// sequences over one pool of KV pages, each with the bits it has alone.
//
// Sequences are admitted as pages allow, a prompt is read as soon as its
// sequence is in, and all that are in decode together; who ends makes room for
// the next.
#pragma once

#include "compiler/import/ImportModel.h"
#include "gpu-reference/Reference.h"
#include "models/WeightSource.h"
#include "runtime/BitCompare.h"
#include "runtime/FirstDifference.h"
#include "runtime/KvManager.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery::runtime {

/// A sequence: a prompt, and how many of the tokens behind it are decoded.
struct SequenceText {
  std::vector<int32_t> prompt; ///< at least one id
  int64_t more = 0;

  int64_t positions() const { return int64_t(prompt.size()) + more; }
};

/// What runs, and how much of it at once.
struct BatchOptions {
  compiler::ImportOptions import;
  gpu::Backend backend = gpu::Backend::Emulated;
  int64_t batch = 1; ///< sequences at once, at most
  int64_t pages = 0; ///< of the pool; 0: room for all sequences
  /// Told what is being done, now and then; may be null.
  std::function<void(const std::string &)> progress;
};

/// Positions of a page.
inline constexpr int64_t kBatchPagePositions = 32;

struct BatchDifference {
  size_t sequence; ///< which of the texts
  OpDifference op; ///< of the first of its positions that differs
};

struct BatchOutcome {
  int64_t sequences = 0;
  int64_t steps = 0;                ///< decode steps
  int64_t greatestStep = 0;         ///< sequences of the greatest
  int64_t pages = 0, pagesUsed = 0; ///< of the pool; at once, at most
  BitCompare bits;
  std::optional<BatchDifference> first; ///< when bits or choices differ

  /// "4 sequences, 9 decode steps of up to 4, 5 of 8 KV pages".
  std::string text() const;
};

/// Sequences at once, over what they share.
struct BatchPool {
  KvManager manager;
  std::shared_ptr<gpu::Reference> reference;
};

class BatchCheck {
public:
  /// Opens the reference with `weights` and pages for texts of that many
  /// `positions` each; nothing runs yet. Fails for what the reference refuses,
  /// memory that runs out among it, and for a text that the pool cannot hold
  /// alone.
  static Expected<BatchCheck> open(const models::WeightSource &weights,
                                   BatchOptions options,
                                   std::span<const int64_t> positions);

  /// Runs `texts`, of the positions that were said, on the reference together,
  /// and on the interpreter with `expected` one by one; the tokens behind a
  /// prompt are the interpreter's. Fails for what either refuses. A difference
  /// that cannot be traced to an op is in the outcome all the same.
  Expected<BatchOutcome> run(const models::WeightSource &expected,
                             std::span<const SequenceText> texts);

  /// For others too while nothing runs: a sequence of its own, which run()
  /// forgets, has the whole pool.
  const std::shared_ptr<gpu::Reference> &reference() const {
    return pool.reference;
  }

private:
  BatchCheck(BatchOptions options, BatchPool pool)
      : options(std::move(options)), pool(std::move(pool)) {}

  BatchOptions options;
  BatchPool pool;
};

} // namespace orrery::runtime
