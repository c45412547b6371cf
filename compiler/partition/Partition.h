// How a model is split over a system: pipeline stages of consecutive sections
// (a third of a layer is the least that a stage has, or the head alone), each
// on a group of tensor-parallel chips, and which chips those are.
//
// Plain C++, without IR: for whoever asks what a system could do. The pass
// --grid-place-stages writes the answer into IR.
#pragma once

#include "compiler/partition/PlaceGroups.h"
#include "compiler/partition/StageBytes.h"
#include "compiler/partition/StageTicks.h"

#include <optional>

namespace orrery::partition {

enum class Objective {
  Latency,   ///< ticks of one step through all stages
  Throughput ///< ticks a token with as many users as stages, or as fit
};

/// What is asked for; 0: to be chosen.
struct SplitRequest {
  int64_t tp = 0, pp = 0;
  Objective objective = Objective::Latency;
  Products products = Products::Chosen;
  /// Feed-forward networks are cut in two even where they fit whole, or never;
  /// none: where that takes it to fit, or for throughput.
  std::optional<bool> cut = {};
};

struct StagePlan {
  /// Of the model's; none only where the head is alone.
  int64_t first = 0, sections = 0;
  StageBytes bytes; ///< of each chip
  StageTicks ticks; ///< estimated; the hop to the next stage included
};

struct Split {
  int64_t tp = 1, pp = 1;
  std::vector<StagePlan> stages;
  Placement placement;
  Tick latency = 0; ///< estimated, all stages one after another
  Tick slowest = 0; ///< estimated, of the slowest stage
  /// Users whose KV caches `stages` have room for; 1 unless it was chosen for
  /// throughput.
  int64_t users = 1;
  bool cut = false; ///< stages may end inside feed-forward networks
};

/// The best split that fits and that the cables allow. An error is one line:
/// more chips than there are, more stages than sections and a head, no groups
/// with the cables; or, when room lacks or a chain of groups, by how much, the
/// smallest preset that would do and the cheapest change that would.
Expected<Split> chooseSplit(const Machine &machine, const StepShape &shape,
                            const SplitRequest &request = {});

/// The same without advice in its error.
Expected<Split> findSplit(const Machine &machine, const StepShape &shape,
                          const SplitRequest &request);

/// A model dealt to stages (DealStages.h).
struct Deal {
  std::vector<StagePlan> stages;
  Bytes shortage = 0; ///< of the stage that lacks most room; 0: all fit
  Tick latency = 0, slowest = 0;
};

} // namespace orrery::partition
