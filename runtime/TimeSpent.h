// Where the ticks of a step went, by kind of op.
//
// Definition: the ops of a step, on whatever chip, are put in the order in
// which their last effects are there; the ticks from one op's last effect to
// the next one's belong to that next op. So every tick is counted once, the sum
// is the step, and work that runs under another op costs its own op nothing.
#pragma once

#include "simulator/SystemSimulator.h"

#include <array>
#include <string_view>

namespace orrery::runtime {

inline constexpr std::array<const char *, 13> kOpKinds = {
    "embedding (host link in)",
    "norms",
    "q, k, v",
    "attention",
    "attention output",
    "feed-forward",
    "residuals",
    "head",
    "argmax",
    "gathers (links)",
    "next stage (links)",
    "result (host link out)",
    "other"};
using TimeSpent = std::array<Tick, kOpKinds.size()>;

/// The index in kOpKinds of a location's name, such as "layer 3 attn_q".
size_t opKind(std::string_view location);

/// Ticks of one step; they add up to `result.ticks`.
TimeSpent timeSpent(const SystemProgram &program,
                    const sim::SystemResult &result);

} // namespace orrery::runtime
