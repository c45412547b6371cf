// Chips for one of the candidates of a choice.
#pragma once

#include "compiler/partition/DealStages.h"
#include "compiler/partition/Partition.h"

namespace orrery::partition {

/// A way to divide a model that fits, not yet on chips.
struct Candidate {
  int64_t tp, pp;
  bool ring;
  Cuts cuts;
  int64_t users;
  Deal deal;
  Tick cost; ///< a token
};

/// Widths at most for which chips are searched in vain: each costs a search.
inline constexpr size_t kSearches = 40;
/// And searches over third chips, of which a width may take several.
inline constexpr int64_t kRouteSearches = 100;

/// "tp=8, pp=9"
std::string named(int64_t tp, int64_t pp);
/// Only a width that was asked for has no groups: one chip is a group.
Error noGroups(const Machine &machine, const SplitRequest &request);

/// The cheapest that the cables allow, straight or over third chips, whose hops
/// count. Otherwise the error is about the longest chain that was found.
Expected<Split> placeSplit(const Machine &machine, const StepShape &shape,
                           const SplitRequest &request, const LinkGraph &graph,
                           std::vector<Candidate> candidates);

} // namespace orrery::partition
