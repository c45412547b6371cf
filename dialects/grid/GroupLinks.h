// The link numbers of a stage's program (machine/Instruction.h, LinkNumber).
// Plain C++: whoever wires chips needs them too.
//
//   each linked to each   1 .. tp - 1   number j leads to the rank j after the
//                                       own (and comes from the rank j before)
//   ring                  1             the rank after (and the one before)
//   between stages        pipelineLink  the same rank of the next stage (and of
//                         and on        the one before), a number a cable
#pragma once

#include <cstdint>

namespace orrery::grid {

/// Links that a group of `tp` ranks uses within itself.
inline int32_t groupLinks(int64_t tp, bool ring) {
  return ring ? 1 : int32_t(tp) - 1;
}
/// The link between stages: the first number after those.
inline int32_t pipelineLink(int64_t tp, bool ring) {
  return groupLinks(tp, ring) + 1;
}

} // namespace orrery::grid
