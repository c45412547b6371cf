// Which stages of a step are one program: those that differ in nothing but the
// number of their first layer.
#pragma once

#include "dialects/grid/Grid.h"

#include "llvm/ADT/SmallVector.h"

namespace orrery {

struct StageKind {
  llvm::SmallVector<unsigned> stages; ///< indices, ascending
};

/// Every stage is in one kind; kinds are in order of their first stage.
std::vector<StageKind> stageKinds(llvm::ArrayRef<grid::StageOp> stages);

} // namespace orrery
