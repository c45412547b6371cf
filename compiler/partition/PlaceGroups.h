// Which chips form the groups of a pipeline: a chain of groups in which the
// ranks of a group are linked each to each (or in a ring), and rank r of every
// group to rank r of the next.
//
// Where the cables do not lead from group to group, they may lead over third
// chips that no stage is on. A relay is one such chip a rank, between two
// groups; the chips of a relay need not be linked to each other.
#pragma once

#include "compiler/partition/LinkGraph.h"

#include <algorithm>
#include <optional>
#include <string>

namespace orrery::partition {

/// A group, or a relay.
struct PlacedStage {
  std::vector<int32_t> chips; ///< by rank
  bool relay = false;
};

struct Placement {
  bool ring = false; ///< groups are linked in a ring only
  /// Cables from each rank to its like in the next: the fewest that any has.
  int32_t cables = 1;
  std::vector<PlacedStage> stages; ///< relays in their places

  int64_t relays() const {
    return std::ranges::count_if(stages, &PlacedStage::relay);
  }
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
/// "there is no". Chips are taken from the lowest number on. At most `relays`
/// relays, up to three between two groups; they are taken where the search
/// meets no straight way, and may be more than need be.
PlaceOutcome placeGroups(const LinkGraph &graph, int64_t tp, int64_t pp,
                         bool ring, int64_t relays = 0);

} // namespace orrery::partition
