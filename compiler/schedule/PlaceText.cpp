#include "compiler/schedule/PlaceText.h"

#include <algorithm>

namespace orrery::schedule {

namespace {

/// One (slice, bank) and its first address above all regions.
struct Column {
  uint16_t slice;
  uint8_t bank;
  uint32_t used;
};

// Weight slices before data slices, from the chip's edges inwards.
std::vector<Column> columns(const Program &program, const Machine &machine) {
  ChipLayout layout(machine);
  std::vector<Column> weights, data;
  for (int32_t slice = 0; slice < machine.geometry().slices(); ++slice) {
    int32_t first = layout.dataFirst(layout.sideOfSlice(slice));
    bool isData = slice >= first && slice < first + layout.dataSlices;
    for (int32_t bank = 0; bank < machine.sram.banks; ++bank) {
      uint32_t used = 0;
      for (const SramRegion &r : program.regions) {
        if (slice >= r.slice && slice < r.slice + r.width && r.bank == bank) {
          used = std::max(used, r.base + r.length);
        }
      }
      (isData ? data : weights)
          .push_back({uint16_t(slice), uint8_t(bank), used});
    }
  }
  weights.insert(weights.end(), data.begin(), data.end());
  return weights;
}

} // namespace

Expected<int64_t> placeText(Program &program, const Machine &machine,
                            int64_t taken) {
  Bytes bytes = programBytes(program, machine);
  int64_t needed = (bytes + machine.lanes - 1) / machine.lanes;
  int64_t left = needed, skip = taken, room = 0;
  for (const Column &c : columns(program, machine)) {
    int64_t available = int64_t(machine.sram.vectorsPerBank) - c.used;
    room += available;
    int64_t passed = std::min(skip, available);
    int64_t take = std::min(left, available - passed);
    skip -= passed;
    if (take > 0) {
      program.regions.push_back(
          {"instructions." + std::to_string(c.slice) + "." +
               std::to_string(c.bank),
           RegionKind::Instructions, c.slice, 1, c.bank,
           uint32_t(c.used + passed), uint32_t(take)});
      left -= take;
    }
  }
  if (left > 0) {
    return Error{"no room for the program's text: it takes " +
                 std::to_string(needed * machine.lanes) + " B, " +
                 std::to_string(std::max<int64_t>(0, room - taken) *
                                machine.lanes) +
                 " B are free"};
  }
  return needed;
}

} // namespace orrery::schedule
