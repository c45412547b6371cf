// Why a step does not compile for a machine, told apart by the words of the
// error: a diagnostic is all that comes out of a pass.
#pragma once

#include "machine/Result.h"

#include <optional>

namespace orrery::runtime {

/// What there is too little of.
enum class Limit {
  // Of room, which fewer tokens may need less of:
  Place,       ///< SRAM: for a region, in one place; by bytes there may be room
  TileBank,    ///< SRAM: the bank of the data slices that KV caches go to
  DataSlices,  ///< SRAM: that is not for weights
  Chip,        ///< SRAM: all of a chip's
  Text,        ///< SRAM: what the programs of a set leave for text
  PlaneBuffer, ///< for activations
  LinkBuffer,
  QueueBuffer, ///< for instructions
  // Of shapes:
  Unit,   ///< lanes, slices, streams or formats, for such a model at all
  Cables, ///< between chips
  Split   ///< chips or layers, for the split that was asked for
};

/// None: the error is no refusal, and no other machine, split or shape is known
/// to help.
std::optional<Limit> limitOf(const Error &error);

/// "a plane's activation buffer"
const char *limitName(Limit limit);
inline bool isSram(Limit limit) { return limit <= Limit::Text; }

/// Whether a step for fewer tokens may do where this one does not: it is room
/// that lacks, in SRAM or in a buffer. (Inside a compilation it is
/// kLacksRoomAttr on the op that says whether more stages may.)
bool isLackOfRoom(const Error &error);

} // namespace orrery::runtime
