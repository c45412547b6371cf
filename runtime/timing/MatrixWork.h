// The multiply-accumulates of a step: what the arrays are busy with, whole
// tiles of lanes, beside what the model asks for.
#pragma once

#include "compiler/Compile.h"

namespace orrery::runtime {

struct MatrixWork {
  int64_t charged = 0; ///< of all chips, with padding
  int64_t useful = 0;  ///< of the model's one token, or of all of a chunk
  /// Charged beyond what is useful, as a share of it.
  double overhead() const {
    return useful > 0 ? double(charged) / double(useful) - 1 : 0;
  }
};

/// MACs of one run of a program: as the simulator counts them.
int64_t chargedMacs(const Program &part, const Machine &machine);
/// A step whose tokens are all valid, the last of them number `positions`.
MatrixWork matrixWork(const CompiledStep &step, const Machine &machine,
                      const models::ModelConfig &config, int64_t positions);

} // namespace orrery::runtime
