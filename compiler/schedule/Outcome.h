// What a schedule comes to: its end, lifetimes, and how it stands beside the
// two lower bounds.
#pragma once

#include "compiler/schedule/Problem.h"

namespace orrery::schedule {

/// The tick at which an instruction's last effect is there: vectors on their
/// stream (read, vector, matmul, permute, receive), readable (write), usable
/// (load, install), at the host (send), or in the buffer (fetch).
Tick completionTick(const Machine &machine,
                    const std::vector<VectorProgram> &programs,
                    const Instruction &instruction);

/// Rule 7 of machine/README.md over finished instructions.
Tick endTick(const Machine &machine, const std::vector<VectorProgram> &programs,
             const std::vector<Instruction> &instructions);

/// Sets born and dies of every Temporary region from the accesses to it.
void setLifetimes(const Problem &problem, const Schedule &schedule,
                  std::vector<SramRegion> &regions);

/// No schedule of the same gangs can end before `criticalPath` (operands
/// alone) or `busiest` (the resource in use for longest).
struct LowerBounds {
  Tick criticalPath = 0;
  Tick busiest = 0;
  std::string busiestResource;
};
/// Attributes of a tick.program that carry the bounds to whoever prints them.
inline constexpr char kCriticalPathAttr[] = "schedule.critical_path";
inline constexpr char kBusiestAttr[] = "schedule.busiest";
inline constexpr char kBusiestResourceAttr[] = "schedule.busiest_resource";

LowerBounds lowerBounds(const Problem &problem, Tick criticalPath);

} // namespace orrery::schedule
