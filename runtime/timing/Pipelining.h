// How closely steps may follow each other through the stages of a pipeline.
//
// A stage runs its program for one step after another: the next may start when
// the last has ended, since all of its units, and the SRAM of its temporaries,
// are then free. The least distance follows from the lengths of the programs
// and from what the links between stages carry; a program of two steps at that
// distance can be simulated, and is the proof.
#pragma once

#include "machine/SystemProgram.h"

#include <vector>

namespace orrery::runtime {

struct StageTime {
  uint32_t part = 0;
  Tick start = 0;    ///< on the step's clock
  Tick ticks = 0;    ///< of its program
  Tick linkFree = 0; ///< when all it hands on has crossed, from `start`

  /// For one step; what follows the program's end is a link's.
  Tick occupied() const { return std::max(ticks, linkFree); }
};

/// A vector between two stages, on the step's clock; `width` places of the
/// receiver's buffer from `sent` up to `received`.
struct HeldVector {
  Tick sent, received;
  int32_t width;
};

struct StepTimes {
  std::vector<StageTime> stages;
  /// From each stage to the next, cable by cable: what it carries, in order.
  std::vector<std::vector<HeldVector>> links;
  Tick ticks = 0; ///< of the step
  int32_t bufferVectors = 0;

  StepTimes(const SystemProgram &system, const Machine &machine);
  /// The stage that is occupied for longest.
  size_t slowest() const;
  /// Ticks between steps that follow each other as closely as may be.
  Tick interval() const;
  /// Steps under way then.
  int64_t inFlight() const;
};

/// Ticks from the start of one step to the earliest start of the next: every
/// stage is through with the one, its link has carried it, and no buffer holds
/// more than it can. The stages of both are the same chips.
Tick follow(const StepTimes &before, const StepTimes &after);

/// The step twice, the second time `later` ticks later, as one program: to be
/// simulated without values, and without fetches, on a machine whose queues
/// hold the text of both. Queues are filled before each step, and what a step
/// fetches is over when it is.
SystemProgram twice(const SystemProgram &system, Tick later);
Machine holdingAllText(const Machine &machine);

} // namespace orrery::runtime
