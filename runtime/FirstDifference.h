// Where interpreter and simulator part: the first op whose value differs.
//
// A probe is the step cut behind one op (CutStep.h), compiled as the step is,
// with that op's value where the logits would be. It reads the same ids on a
// simulator of its own, and so does the interpreter. A bisection over the ops
// finds one whose value differs although that of the op before does not; then
// the operands are followed back until all of them are equal. RoPE has no
// value of its own on the chip and counts as part of the attention.
//
// Probes run on one chip. Where a system of chips differs and one chip does
// not, no op is named: it is the split.
#pragma once

#include "runtime/BitCompare.h"
#include "runtime/Session.h"

#include <optional>
#include <span>
#include <string>

namespace orrery::runtime {

struct OpDifference {
  std::string op;   ///< "layer 3 attn_q"; empty: not known, see `why`
  std::string kind; ///< "llm.linear"; "logits" where the op is not known
  BitDifference at; ///< expected: the interpreter's
  std::string why;  ///< why no op is named
};

/// What is read: a prompt in chunks, the rest token by token.
struct Reading {
  std::span<const int32_t> ids;
  size_t promptTokens;
};

/// Compares logits over `reading` on a fresh session and interpreter; with
/// options.upTo, the values of that op.
Expected<BitCompare> compareValues(const models::WeightSource &weights,
                                   const SessionOptions &options,
                                   const Reading &reading);

/// The op, when the logits over `reading` differ; none if all is equal.
Expected<std::optional<OpDifference>>
findFirstDifference(const models::WeightSource &weights,
                    const SessionOptions &options, const Reading &reading);

} // namespace orrery::runtime
