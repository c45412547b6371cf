// The cables of the generated topologies. Topology.h reads what they are asked
// for, and knows that it works out.
//
// A chip's ports come in a fixed order: first those inside its node, to the
// node's other chips in ascending order, then the global ones.
#pragma once

#include "machine/Machine.h"

#include <vector>

namespace orrery {

/// Each chip to each other of its node of `nodeChips`, on ports
/// 0 .. nodeChips - 2.
std::vector<Link> nodeCables(int32_t chips, int32_t nodeChips);

/// Port 0 to the next chip's port 1.
std::vector<Link> ringCables(int32_t chips);

/// Rows of `columns` chips. Ports: east, west (where there is more than one
/// column), then south, north; at the edges they are free.
std::vector<Link> meshCables(int32_t chips, int32_t columns);

/// Straight cables between nodes on a ring: for the k-th offset of
/// `offsets[r]`, from chip r of each node a to chip r of the node
/// (a + offset) % nodes, on port nodeChips - 1 + k. Each list must have the
/// offsets d and nodes - d equally often.
std::vector<Link>
straightCables(int32_t nodes, const std::vector<std::vector<int32_t>> &offsets);

/// +1, -1, +2, -2, … +-reach, for each of the `nodeChips`.
std::vector<std::vector<int32_t>>
nodeRingOffsets(int32_t nodes, int32_t nodeChips, int32_t reach);

/// So that each two nodes have equally many cables: either every chip reaches
/// every other node, or neighbouring chips share the same nodes, the first
/// ones the nearest. Empty where `globalPorts` a chip do not allow it.
std::vector<std::vector<int32_t>>
dragonflyOffsets(int32_t nodes, int32_t nodeChips, int32_t globalPorts);

} // namespace orrery
