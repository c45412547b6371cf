// Which chips form the groups of a pipeline: a chain of groups in which the
// ranks of a group are linked each to each (or in a ring), and rank r of every
// group to rank r of the next.
#pragma once

#include "compiler/partition/LinkGraph.h"
#include "machine/SystemProgram.h"

#include <optional>
#include <string>

namespace orrery::partition {

struct PlacedStage {
  std::vector<int32_t> chips; ///< by rank
  /// By rank: the ports behind link number k at k - 1
  /// (dialects/grid/GroupLinks.h).
  std::vector<std::vector<LinkPorts>> links;
};

struct Placement {
  bool ring = false; ///< groups are linked in a ring only
  std::vector<PlacedStage> stages;
};

/// What came of looking for `pp` groups of `tp` chips.
struct PlaceOutcome {
  std::optional<Placement> placement;
  /// Otherwise: one line, and how long the longest chain found is.
  std::string refusal;
  int64_t longest = 0;
};

/// Depth first, onward ways fewest first, with a look ahead at what can still
/// be reached. Bounded work: where it gave up the refusal says "found no", not
/// "there is no". Chips are taken from the lowest number on.
PlaceOutcome placeGroups(const LinkGraph &graph, int64_t tp, int64_t pp,
                         bool ring);

/// The ports of groups that are linked as above.
Placement wire(const LinkGraph &graph,
               const std::vector<std::vector<int32_t>> &groups, bool ring);

} // namespace orrery::partition
