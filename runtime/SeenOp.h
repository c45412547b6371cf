// What ops computed on two sides that show every op's value, and the first that
// one side has otherwise. For the GPU reference beside the interpreter; on the
// chip ops are found by probes (FirstDifference.h).
#pragma once

#include "dialects/llm/Tensor.h"
#include "gpu-reference/Reference.h"
#include "runtime/FirstDifference.h"

#include <optional>
#include <span>
#include <string>

namespace orrery::runtime {

/// What one side computed for one op.
struct SeenOp {
  std::string op;   ///< "layer 3 attn_q"
  std::string kind; ///< "llm.linear"; empty: not known on that side
  llm::Tensor value;
};

/// Of the interpreter, all rows.
SeenOp seenOp(mlir::Operation *op, const llm::Tensor &value);
/// Of the reference, all rows.
SeenOp seenOp(const gpu::OpValue &value);
/// One of the rows.
SeenOp rowOf(const SeenOp &seen, int64_t row);

/// The first of the interpreter's ops whose rows, which stand at `position` and
/// behind, the other side has not; none if it has all.
std::optional<OpDifference> firstOf(std::span<const SeenOp> expected,
                                    std::span<const SeenOp> found,
                                    uint32_t position);

} // namespace orrery::runtime
