// How a stage's ranks share its products of shards, read off the grid. Not
// here: what the form is chosen by (compiler/partition/StageTicks.h).
#pragma once

#include "compiler/partition/ProductForms.h"
#include "dialects/grid/Grid.h"

#include <vector>

namespace orrery {

/// Attention outputs and second products of feed-forward networks, in the order
/// of the body; none with one rank, which has no shards.
std::vector<partition::SharedProduct> stageProducts(grid::StageOp stage);

} // namespace orrery
