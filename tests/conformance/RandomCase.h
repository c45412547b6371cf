// A model shape, a chip and a sequence, drawn from one seed.
//
// Odd sizes are the point: head_dim and vocabularies that public models have
// and tools stumble over, rows that fill no vector, contexts that end inside a
// bucket. What a chip cannot hold is drawn too, so that refusals are seen.
#pragma once

#include "runtime/Session.h"
#include "tests/simulator/check/Random.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::test {

struct RandomCase {
  uint64_t seed = 0;
  models::ModelConfig model;
  Machine machine;
  runtime::SessionOptions options; ///< all but `machine`
  /// Token ids, as they are read one call after another.
  std::vector<std::vector<int32_t>> reads;

  /// All that was drawn, in one line.
  std::string text() const;
};

RandomCase drawCase(uint64_t seed);

/// Instruction buffers and fetches, given the machine's lanes.
void drawFetch(Machine &machine, Random &random);

} // namespace orrery::test
