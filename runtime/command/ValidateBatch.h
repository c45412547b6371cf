// `orrery validate --sequences`: texts made of one, run together, and what is
// said about it.
#pragma once

#include "runtime/BatchCheck.h"
#include "runtime/command/Json.h"

#include <span>
#include <string>
#include <vector>

namespace orrery::command {

/// Positions that each of the texts below has, of `length` ids: known before
/// there are any.
std::vector<int64_t> positionsOfTexts(int64_t length, int64_t count,
                                      int64_t more, int64_t context);

/// `count` texts of `ids` (at least one, below `vocab`), no two alike: text i
/// keeps the first id, starts i ids later behind it, wraps around, and is i ids
/// longer. Each has `more` tokens behind it (at least one), as far as `context`
/// positions go. Texts that the context makes equally long are the first of
/// these, counted up in the ids behind its first, then in that one: they differ
/// while the vocabulary has as many.
std::vector<runtime::SequenceText> textsOf(std::span<const int32_t> ids,
                                           int64_t vocab, int64_t count,
                                           int64_t more, int64_t context);

std::string batchText(const runtime::BatchOutcome &outcome);
Json batchJson(const runtime::BatchOutcome &outcome);

} // namespace orrery::command
