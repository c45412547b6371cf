// Rows of a shard cut into bursts that fit the buffer of a link.
#pragma once

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>

namespace orrery {

/// Vectors [vector, vector + vectors) of tokens [token, token + tokens).
struct LinkPiece {
  int64_t token, tokens, vector, vectors;
};

/// Pieces of at most `room` vectors of `tokens` rows of `vectors` each.
inline llvm::SmallVector<LinkPiece> linkPieces(int64_t tokens, int64_t vectors,
                                               int64_t room) {
  int64_t vectorsEach = std::clamp<int64_t>(room, 1, vectors);
  int64_t tokensEach = std::clamp<int64_t>(room / vectorsEach, 1,
                                           vectorsEach < vectors ? 1 : tokens);
  llvm::SmallVector<LinkPiece> out;
  for (int64_t t = 0; t < tokens; t += tokensEach) {
    for (int64_t j = 0; j < vectors; j += vectorsEach) {
      out.push_back({t, std::min(tokensEach, tokens - t), j,
                     std::min(vectorsEach, vectors - j)});
    }
  }
  return out;
}

} // namespace orrery
