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

class TextRoom {
public:
  TextRoom(const Program &program, const Machine &machine, int64_t taken,
           int64_t chunks);
  /// False when a chunk found no room.
  bool find();
  /// Chunks for which there is room.
  int64_t room() const;

  std::vector<ChunkPlace> places;

private:
  Column columnOf(const Program &program, int32_t slice, int32_t bank) const;
  /// Addresses of a column, filled from `low` up or from `high` down.
  struct Range {
    const Column *column;
    uint32_t low, high;
    bool up;
  };
  bool fill(const std::vector<Range> &ranges);
  bool isFull() const { return int64_t(places.size()) == chunks; }

  uint32_t depth, step;
  int64_t skip, chunks, taken;
  std::vector<Column> weights, data;
};

} // namespace

TextRoom::TextRoom(const Program &program, const Machine &machine,
                   int64_t taken, int64_t chunks)
    : depth(uint32_t(machine.sram.vectorsPerBank)),
      step(uint32_t(machine.fetchVectors)), skip((taken + step - 1) / step),
      chunks(chunks), taken(skip) {
  ChipLayout layout(machine);
  for (int32_t slice = 0; slice < machine.geometry().slices(); ++slice) {
    int32_t first = layout.dataFirst(layout.sideOfSlice(slice));
    bool isData = slice >= first && slice < first + layout.dataSlices;
    for (int32_t bank = 0; bank < machine.sram.banks; ++bank) {
      (isData ? data : weights).push_back(columnOf(program, slice, bank));
    }
  }
}

Column TextRoom::columnOf(const Program &program, int32_t slice,
                          int32_t bank) const {
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

int64_t TextRoom::room() const {
  int64_t room = 0;
  for (const auto *columns : {&weights, &data}) {
    for (const Column &c : *columns) {
      room += (depth - c.used) / step;
    }
  }
  return std::max<int64_t>(0, room - taken);
}

/// Round after round, a chunk of each range. False when a temporary of this
/// program is in the way: its place may not be passed over, since other
/// programs count it.
bool TextRoom::fill(const std::vector<Range> &ranges) {
  uint32_t rounds = 0;
  for (const Range &r : ranges) {
    rounds = std::max(rounds, (r.high - r.low) / step);
  }
  for (uint32_t round = 0; round < rounds && !isFull(); ++round) {
    for (const Range &r : ranges) {
      if (isFull() || round >= (r.high - r.low) / step) {
        continue;
      }
      if (skip > 0) {
        --skip;
        continue;
      }
      uint32_t base = r.up ? r.low + round * step : r.high - (round + 1) * step;
      if (base < r.column->used) {
        return false;
      }
      places.push_back({r.column->slice, r.column->bank, base});
    }
  }
  return true;
}

bool TextRoom::find() {
  std::vector<Range> free, below;
  for (const Column &c : weights) {
    free.push_back({&c, c.used, depth, true});
  }
  for (const Column &c : data) {
    uint32_t floor = textFloor(c.lasting, depth);
    free.push_back({&c, floor, depth, false});
    below.push_back({&c, c.lasting, floor, false});
  }
  return fill(free) && fill(below) && isFull();
}

Expected<std::vector<ChunkPlace>> textRoom(const Program &program,
                                           const Machine &machine,
                                           int64_t taken, int64_t chunks) {
  TextRoom room(program, machine, taken, chunks);
  if (!room.find()) {
    return Error{"no room for the program's text: it takes " +
                 std::to_string(chunks * machine.fetchBytes()) + " B, " +
                 std::to_string(room.room() * machine.fetchBytes()) +
                 " B are free"};
  }
  return std::move(room.places);
}

void addTextRegions(Program &program, const Machine &machine,
                    const std::vector<ChunkPlace> &places) {
  auto step = uint32_t(machine.fetchVectors);
  size_t number = 0;
  SramRegion *last = nullptr;
  for (const ChunkPlace &p : places) {
    if (last && last->slice == p.slice && last->bank == p.bank &&
        last->base + last->length == p.address) {
      last->length += step;
      continue;
    }
    last = &program.regions.emplace_back(SramRegion{
        "instructions." + std::to_string(number++), RegionKind::Instructions,
        p.slice, 1, p.bank, p.address, step});
  }
}

} // namespace orrery::schedule
