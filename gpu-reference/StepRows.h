// The rows of a step and where they stand: tokens of one sequence at
// consecutive positions (a prompt's chunk), or one token each of several
// sequences (batched decode). Plain C++.
#pragma once

#include "gpu-reference/Reference.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery::gpu {

struct StepRows {
  std::vector<int32_t> ids;
  std::vector<uint32_t> positions; ///< of each row
  std::vector<Sequence> sequences; ///< of each row; one if all are of one

  static StepRows ofSequence(Sequence sequence, std::span<const int32_t> ids,
                             uint32_t position) {
    StepRows rows{{ids.begin(), ids.end()}, {}, {sequence}};
    for (size_t t = 0; t < ids.size(); ++t) {
      rows.positions.push_back(position + uint32_t(t));
    }
    return rows;
  }
  static StepRows ofBatch(std::span<const SequenceToken> tokens) {
    StepRows rows;
    for (const SequenceToken &token : tokens) {
      rows.ids.push_back(token.id);
      rows.positions.push_back(token.position);
      rows.sequences.push_back(token.sequence);
    }
    return rows;
  }

  int32_t count() const { return int32_t(ids.size()); }
  /// Each row is of a sequence of its own.
  bool batched() const { return sequences.size() > 1; }
  /// One token a sequence.
  bool decodes() const { return sequences.size() == ids.size(); }
  /// Behind the last position of any sequence.
  int64_t end() const {
    return int64_t(*std::ranges::max_element(positions)) + 1;
  }
  /// Behind the last position of sequences[i].
  int64_t endOf(size_t i) const {
    return int64_t(batched() ? positions[i] : positions.back()) + 1;
  }
  /// "position 7", or "sequence 2, position 7" in a batch.
  std::string place(size_t row) const {
    const std::string position = "position " + std::to_string(positions[row]);
    return batched()
               ? "sequence " + std::to_string(sequences[row]) + ", " + position
               : position;
  }
};

} // namespace orrery::gpu
