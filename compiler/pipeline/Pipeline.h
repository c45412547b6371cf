// The order of the passes.
#pragma once

#include "mlir/Pass/PassManager.h"

#include <optional>
#include <string>

namespace orrery {

/// How a model is divided; 0: as the compiler chooses.
struct SplitOptions {
  int64_t tensorParallel = 0; ///< chips of a stage
  int64_t stages = 0;
  /// How ranks share the products of shards: "column", "row", "scatter" or
  /// "reduce"; empty: as is estimated to be faster.
  std::string products = {};
  /// Whether stages end inside feed-forward networks too (Cuts::Sections), as
  /// in other programs of a set; none: where that takes it to fit.
  std::optional<bool> cut = {};
  bool operator==(const SplitOptions &) const = default;
};

/// From a step in `llm` to the stages of a system. `machine` is a preset or a
/// file; `reach` as in CompileRequest.
void buildPartition(mlir::OpPassManager &passes, const std::string &machine,
                    const SplitOptions &split, int64_t reach = 0);
/// From there to placed flow.programs, one a kind of stage.
void buildPlacement(mlir::OpPassManager &passes);
/// From there to the tick.program.
void buildSchedule(mlir::OpPassManager &passes);

} // namespace orrery
