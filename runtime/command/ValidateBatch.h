// `orrery validate --sequences`: texts made of one, run together, and what is
// said about it.
#pragma once

#include "runtime/BatchCheck.h"
#include "runtime/command/Json.h"

#include <span>
#include <string>
#include <vector>

namespace orrery::command {

/// `count` texts of `ids` (at least one), no two alike unless one id is: text i
/// keeps the first id, starts i ids later behind it, wraps around, and is i ids
/// longer. Each has `more` tokens behind it (at least one), as far as `context`
/// positions go.
std::vector<runtime::SequenceText> textsOf(std::span<const int32_t> ids,
                                           int64_t count, int64_t more,
                                           int64_t context);

/// Positions that all of them have.
int64_t positionsOf(std::span<const runtime::SequenceText> texts);

std::string batchText(const runtime::BatchOutcome &outcome);
Json batchJson(const runtime::BatchOutcome &outcome);

} // namespace orrery::command
