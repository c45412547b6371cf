// Where and when instructions are, written down cell by cell: the slow and
// obvious counterpart of what simulator/check proves with runs and sweeps.
#pragma once

#include "machine/Program.h"

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace orrery::test {

/// One stream register, bank or queue in one cycle.
struct BoardCell {
  uint32_t place;
  Tick tick;
};

/// One vector address touched by a read or write.
struct Touch {
  int slice, bank;
  int64_t address;
  Tick tick;
};

/// Everything an instruction takes for itself. Stream cells are counted on
/// their diagonals.
std::vector<BoardCell> cellsOf(const Instruction &, const Program &,
                               const Machine &);
/// The addresses of a read or of a write without step registers.
std::vector<Touch> touchesOf(const Instruction &, const Machine &);
/// First tick at which any slice of the instruction acts.
Tick earliestTick(const Instruction &, const Machine &);
/// One past the last effect of an instruction (rule 7).
Tick endOf(const Instruction &, const Program &, const Machine &);

/// Keeps the order of instructions of the same tick.
void sortByTick(std::vector<Instruction> &instructions);

class Board {
public:
  /// Whether no cell, moved by `shift`, is taken.
  bool isFree(const std::vector<BoardCell> &cells, Tick shift) const {
    for (const BoardCell &c : cells) {
      if (taken.contains(key(c, shift))) {
        return false;
      }
    }
    return true;
  }
  /// False when two of the cells are the same.
  bool take(const std::vector<BoardCell> &cells, Tick shift) {
    bool fresh = true;
    for (const BoardCell &c : cells) {
      fresh &= taken.insert(key(c, shift)).second;
    }
    return fresh;
  }

private:
  static uint64_t key(const BoardCell &c, Tick shift) {
    return uint64_t(c.place) << 40 | uint64_t(c.tick + shift + (1 << 20));
  }
  std::unordered_set<uint64_t> taken;
};

} // namespace orrery::test
