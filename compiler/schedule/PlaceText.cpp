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

// Level by level from the top. A column's stretch ends where this program's
// temporaries begin.
void TextPlacer::placeInData() {
  std::vector<uint32_t> high(data.size()), length(data.size());
  int64_t wanted = left;
  for (uint32_t address = depth; address-- > 0 && wanted > 0;) {
    for (size_t k = 0; k < data.size() && wanted > 0; ++k) {
      if (address < data[k].lasting) {
        continue;
      }
      if (skip > 0) {
        --skip;
      } else if (address >= data[k].used) {
        high[k] = length[k] == 0 ? address + 1 : high[k];
        ++length[k];
        --wanted;
      } else {
        return; // left > 0: no room
      }
    }
  }
  for (size_t k = 0; k < data.size(); ++k) {
    if (length[k] > 0) {
      add(data[k], high[k] - length[k], length[k]);
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
