// The host's side of a step: what it puts into each chip's SRAM beforehand, the
// rows it sends to the chips, and what it gets from the last stage.
#pragma once

#include "compiler/Compile.h"
#include "runtime/EmbeddingTable.h"
#include "simulator/SystemSimulator.h"

#include <functional>
#include <span>
#include <vector>

namespace orrery::runtime {

/// Sees the SRAM of one chip as the host fills it, and may spoil it. For tests.
using AfterFill =
    std::function<void(const ChipProgram &, const ImagePlan &, SramImage &)>;

/// An image for each of the system's chips, with the shards of its rank and the
/// layers of its stage. Fails as fillImage does.
Expected<std::vector<SramImage>> fillImages(const CompiledStep &step,
                                            const Machine &machine,
                                            const models::WeightSource &weights,
                                            const AfterFill &afterFill);

/// Sees the rows that the host sends to one chip, and may spoil them. For
/// tests.
using AfterRows = std::function<void(const ChipProgram &, const ImagePlan &,
                                     std::vector<float> &)>;

/// Makes what the hosts send with each step of a set of programs.
class HostInput {
public:
  /// `step`: any of the set.
  HostInput(const CompiledStep &step, const Machine &machine,
            EmbeddingTable table);

  /// Token ids are below it.
  int64_t vocabulary() const { return table.rows(); }
  /// sim::SystemInput::hostVectors for a step of `program` over `ids`, the
  /// first at `position`; no more than it has tokens.
  std::vector<std::vector<float>> of(const SystemProgram &program,
                                     std::span<const int32_t> ids,
                                     uint32_t position,
                                     const AfterRows &afterRows = {}) const;

private:
  int32_t lanes;
  EmbeddingTable table;
  /// By part: what its chips are sent, and nothing else of its plan.
  std::vector<ImagePlan> plans;
};

/// For each of the first `tokens` tokens, the greatest logit's id, as the ranks
/// of the last stage send it to their hosts. Fails when they do not agree.
Expected<std::vector<int32_t>> sentIds(const SystemProgram &program,
                                       const sim::SystemResult &result,
                                       uint32_t tokens);

/// The logits of token `token` of the last step, put together from the shards
/// of the last stage's ranks. A probe's value likewise.
std::vector<float> gatherLogits(const CompiledStep &step,
                                const sim::SystemSimulator &simulator,
                                uint32_t token);

} // namespace orrery::runtime
