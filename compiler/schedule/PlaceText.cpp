#include "compiler/schedule/PlaceText.h"

#include <algorithm>

namespace orrery::schedule {

namespace {

/// One (slice, bank): the first address above what lasts, and the first above
/// this program's temporaries too.
struct Column {
  uint16_t slice;
  uint8_t bank;
  uint32_t lasting, used;
};

class TextPlacer {
public:
  TextPlacer(Program &program, const Machine &machine, int64_t taken);
  /// The vectors that found no room.
  int64_t place(int64_t vectors);
  /// Vectors that were free.
  int64_t room() const;

private:
  Column columnOf(int32_t slice, int32_t bank) const;
  void placeInWeights();
  void placeInData();
  void add(const Column &c, uint32_t base, uint32_t length);

  Program &program;
  uint32_t depth;
  int64_t taken, skip, left = 0;
  std::vector<Column> weights, data;
};

} // namespace

TextPlacer::TextPlacer(Program &program, const Machine &machine, int64_t taken)
    : program(program), depth(uint32_t(machine.sram.vectorsPerBank)),
      taken(taken), skip(taken) {
  ChipLayout layout(machine);
  for (int32_t slice = 0; slice < machine.geometry().slices(); ++slice) {
    int32_t first = layout.dataFirst(layout.sideOfSlice(slice));
    bool isData = slice >= first && slice < first + layout.dataSlices;
    for (int32_t bank = 0; bank < machine.sram.banks; ++bank) {
      (isData ? data : weights).push_back(columnOf(slice, bank));
    }
  }
}

Column TextPlacer::columnOf(int32_t slice, int32_t bank) const {
  Column c{uint16_t(slice), uint8_t(bank), 0, 0};
  for (const SramRegion &r : program.regions) {
    if (slice >= r.slice && slice < r.slice + r.width && r.bank == bank) {
      c.used = std::max(c.used, r.base + r.length);
      if (r.kind != RegionKind::Temporary) {
        c.lasting = std::max(c.lasting, r.base + r.length);
      }
    }
  }
  return c;
}

int64_t TextPlacer::room() const {
  int64_t room = 0;
  for (const auto *columns : {&weights, &data}) {
    for (const Column &c : *columns) {
      room += depth - c.used;
    }
  }
  return std::max<int64_t>(0, room - taken);
}

void TextPlacer::add(const Column &c, uint32_t base, uint32_t length) {
  program.regions.push_back(
      {"instructions." + std::to_string(c.slice) + "." + std::to_string(c.bank),
       RegionKind::Instructions, c.slice, 1, c.bank, base, length});
  left -= length;
}

void TextPlacer::placeInWeights() {
  for (const Column &c : weights) {
    int64_t available = depth - c.used;
    int64_t passed = std::min(skip, available);
    int64_t take = std::min(left, available - passed);
    skip -= passed;
    if (take > 0) {
      add(c, uint32_t(c.used + passed), uint32_t(take));
    }
  }
}

// The top quarters first, which temporaries avoid; then what is below them, as
// far down as this program's temporaries.
void TextPlacer::placeInData() {
  for (bool top : {true, false}) {
    for (const Column &c : data) {
      uint32_t floor = textFloor(c.lasting, depth);
      uint32_t high = top ? depth : floor, low = top ? floor : c.lasting;
      int64_t passed = std::min<int64_t>(skip, high - low);
      int64_t take = std::min<int64_t>(left, high - low - passed);
      skip -= passed;
      if (take > 0 && high - passed - take < c.used) {
        return; // left > 0: no room
      }
      if (take > 0) {
        add(c, uint32_t(high - passed - take), uint32_t(take));
      }
    }
  }
}

int64_t TextPlacer::place(int64_t vectors) {
  left = vectors;
  placeInWeights();
  if (left > 0) {
    placeInData();
  }
  return left;
}

Expected<int64_t> placeText(Program &program, const Machine &machine,
                            int64_t taken) {
  Bytes bytes = programBytes(program, machine);
  int64_t needed = (bytes + machine.lanes - 1) / machine.lanes;
  TextPlacer placer(program, machine, taken);
  if (placer.place(needed) > 0) {
    return Error{"no room for the program's text: it takes " +
                 std::to_string(needed * machine.lanes) + " B, " +
                 std::to_string(placer.room() * machine.lanes) + " B are free"};
  }
  return needed;
}

} // namespace orrery::schedule
