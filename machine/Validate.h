// Whether a program makes sense on a machine, looking at one instruction at a
// time. Not here: whether instructions go together in space and time; that is
// the business of compiler/schedule and simulator/check.
#pragma once

#include "machine/Program.h"

namespace orrery {

/// No tick, burst or step of a valid program lies further out: sums of a few
/// fit Tick.
inline constexpr Tick kMaxTick = Tick(1) << 48;

/// Every enum, index, extent and address of `program`, made for `machine`. The
/// error names the place ("instruction 7 (read, tick 90, layer 3 attn_q):
/// address"), what was expected and what was found.
///
/// Addresses hold for every POS from 0 to bucket - 1. A burst's vectors come
/// at rising ticks. A driven stream stops beyond every producer of the
/// instruction. Fields that an operation does not use are at their defaults.
Status validateProgram(const Program &program, const Machine &machine);

} // namespace orrery
