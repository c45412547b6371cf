// How a model is dealt to stages: as a split of given width and depth has it.
#pragma once

#include "compiler/partition/DealStages.h"

namespace orrery::partition {

/// Feed-forward networks are cut in two only where it takes that for all to
/// fit.
inline Deal dealLayers(const Machine &machine, const StepShape &shape,
                       int64_t tp, int64_t pp, bool ring, int64_t users = 1) {
  StageCosts costs(machine, shape, tp, ring);
  Deal best;
  for (Cuts cuts : {Cuts::Sublayers, Cuts::Sections}) {
    DealStages dealing(costs, cuts);
    if (pp > dealing.mostStages()) {
      continue;
    }
    Deal deal = dealing.deal(pp, users, Objective::Latency);
    if (best.stages.empty() || deal.shortage < best.shortage) {
      best = std::move(deal);
    }
  }
  return best;
}

} // namespace orrery::partition
