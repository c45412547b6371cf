// Instructions that belong together, with ticks relative to each other, and
// the streams between them.
#pragma once

#include "machine/Program.h"

#include <algorithm>
#include <vector>

namespace orrery::test {

/// A stream group that an instruction of the gang drives.
struct Flow {
  size_t producer; ///< index into Gang::instructions
  int output;
  StreamRef ref;
  int width;
  Tick diagonal;
  Position from; ///< the producer slot that stands furthest downstream
  BurstShape shape;
};

struct Gang {
  std::vector<Instruction> instructions;
  std::vector<Flow> flows;
  Tick shift = 0; ///< the least shift that all bounds allow

  size_t add(Tick tick, Operation operation) {
    instructions.push_back({tick, 0, std::move(operation)});
    return instructions.size() - 1;
  }
  /// What happens at relative tick `relative` must not be before `notBefore`.
  void require(Tick relative, Tick notBefore) {
    shift = std::max(shift, notBefore - relative);
  }
};

/// The `stop` of an instruction's output.
inline Position &stopOf(Operation &operation, int output) {
  if (auto *op = std::get_if<ReadOp>(&operation)) {
    return op->out.stop;
  }
  if (auto *op = std::get_if<MatmulOp>(&operation)) {
    return op->stop;
  }
  if (auto *op = std::get_if<PermuteOp>(&operation)) {
    return op->out.stop;
  }
  if (auto *op = std::get_if<ReceiveOp>(&operation)) {
    return op->stop;
  }
  return std::get<VectorOp>(operation).out[output].stop;
}

/// A consumer of the flow stands at `at`.
inline void extend(Gang &gang, const Flow &flow, Position at) {
  Position &stop =
      stopOf(gang.instructions[flow.producer].operation, flow.output);
  stop = flow.ref.direction == Direction::East ? std::max(stop, at)
                                               : std::min(stop, at);
}

} // namespace orrery::test
