// Rules overlap and capacity: the SRAM map itself, without the instructions.
//
// A region is a rectangle of addresses and ticks (all ticks, unless it is
// Temporary). Rectangles are swept by the tick of birth; those alive are kept
// by base, so that a new one can only overlap its two neighbours.
#include "simulator/check/Regions.h"

#include "machine/InstructionText.h"
#include "simulator/check/Examination.h"

#include <algorithm>
#include <map>
#include <set>

namespace orrery::check {

bool onChip(const SramRegion &r, const Machine &m) {
  return r.width > 0 && r.slice + r.width <= m.geometry().slices() &&
         r.bank < m.sram.banks && r.length > 0 &&
         endOf(r) <= m.sram.vectorsPerBank;
}

RegionMap::RegionMap(const Program &program, const Machine &machine)
    : program(program), bankCount(machine.sram.banks),
      banks(size_t(machine.geometry().slices()) * bankCount) {
  for (uint32_t i = 0; i < program.regions.size(); ++i) {
    const SramRegion &r = program.regions[i];
    if (!onChip(r, machine)) {
      continue;
    }
    for (int s = r.slice; s < r.slice + r.width; ++s) {
      BankRegions &bank = banks[size_t(s) * bankCount + r.bank];
      (r.kind == RegionKind::Temporary ? bank.temporary : bank.fixed)
          .push_back(i);
    }
  }
  for (BankRegions &bank : banks) {
    std::sort(bank.fixed.begin(), bank.fixed.end(),
              [&](uint32_t a, uint32_t b) {
                return program.regions[a].base < program.regions[b].base;
              });
  }
}

int64_t RegionMap::fixedAt(int slice, int bank, int64_t address) const {
  const std::vector<uint32_t> &fixed = of(slice, bank).fixed;
  auto after = std::upper_bound(
      fixed.begin(), fixed.end(), address,
      [&](int64_t a, uint32_t r) { return a < program.regions[r].base; });
  if (after == fixed.begin()) {
    return -1;
  }
  uint32_t index = *(after - 1);
  return address < endOf(program.regions[index]) ? int64_t(index) : -1;
}

namespace {

class OverlapSweep {
public:
  OverlapSweep(Examination &exam,
               std::set<std::pair<uint32_t, uint32_t>> &reported)
      : exam(exam), regions(exam.program.regions), reported(reported) {}

  void run(const BankRegions &bank) {
    std::vector<uint32_t> all = bank.fixed;
    all.insert(all.end(), bank.temporary.begin(), bank.temporary.end());
    std::sort(all.begin(), all.end(),
              [&](uint32_t a, uint32_t b) { return born(a) < born(b); });
    for (uint32_t index : all) {
      while (!deaths.empty() && deaths.begin()->first <= born(index)) {
        alive.erase(deaths.begin()->second);
        deaths.erase(deaths.begin());
      }
      auto at = alive.emplace(regions[index].base, index);
      if (at != alive.begin()) {
        meet(std::prev(at)->second, index);
      }
      if (std::next(at) != alive.end()) {
        meet(std::next(at)->second, index);
      }
      deaths.emplace(dies(index), at);
    }
  }

private:
  Tick born(uint32_t i) const {
    return regions[i].kind == RegionKind::Temporary
               ? regions[i].born
               : std::numeric_limits<Tick>::min();
  }
  Tick dies(uint32_t i) const {
    return regions[i].kind == RegionKind::Temporary
               ? regions[i].dies
               : std::numeric_limits<Tick>::max();
  }
  void meet(uint32_t a, uint32_t b) {
    const SramRegion &ra = regions[a], &rb = regions[b];
    int64_t low = std::max(ra.base, rb.base);
    if (low >= std::min(endOf(ra), endOf(rb)) ||
        !reported.insert(std::minmax(a, b)).second) {
      return;
    }
    exam.fail(Rule::Overlap, "regions " + ra.name + " (" + kindName(ra.kind) +
                                 ") and " + rb.name + " (" + kindName(rb.kind) +
                                 ") both hold address " + std::to_string(low) +
                                 " of bank " + std::to_string(ra.bank) +
                                 " at the same time");
  }

  Examination &exam;
  const std::vector<SramRegion> &regions;
  std::set<std::pair<uint32_t, uint32_t>> &reported;
  std::multimap<uint32_t, uint32_t> alive; ///< base to region
  std::multimap<Tick, std::multimap<uint32_t, uint32_t>::iterator> deaths;
};

/// Addresses that at least one of the regions holds.
int64_t unionLength(const Program &program, std::vector<uint32_t> regions) {
  std::sort(regions.begin(), regions.end(), [&](uint32_t a, uint32_t b) {
    return program.regions[a].base < program.regions[b].base;
  });
  int64_t length = 0, covered = 0;
  for (uint32_t i : regions) {
    const SramRegion &r = program.regions[i];
    int64_t from = std::max<int64_t>(r.base, covered);
    length += std::max<int64_t>(endOf(r) - from, 0);
    covered = std::max(covered, endOf(r));
  }
  return length;
}

void addUp(Examination &exam, const RegionMap &map) {
  CapacityFigures &sram = exam.report.sram;
  const Machine &m = exam.machine;
  sram.capacity = m.sramBytes();
  for (int s = 0; s < exam.geometry.slices(); ++s) {
    for (int b = 0; b < m.sram.banks; ++b) {
      const BankRegions &bank = map.of(s, b);
      std::vector<uint32_t> all = bank.fixed;
      all.insert(all.end(), bank.temporary.begin(), bank.temporary.end());
      sram.used += unionLength(exam.program, all) * m.lanes;
      sram.bytesOfKind[size_t(RegionKind::Temporary)] +=
          unionLength(exam.program, bank.temporary) * m.lanes;
      for (uint32_t i : bank.fixed) {
        sram.bytesOfKind[size_t(map[i].kind)] += Bytes(map[i].length) * m.lanes;
      }
    }
  }
  sram.free = sram.capacity - sram.used;
}

} // namespace

void checkRegions(Examination &exam) {
  const Program &program = exam.program;
  for (const SramRegion &r : program.regions) {
    if (!onChip(r, exam.machine)) {
      exam.fail(Rule::Capacity,
                "region " + r.name + " needs addresses " +
                    std::to_string(r.base) + "-" + std::to_string(endOf(r)) +
                    " of bank " + std::to_string(r.bank) + " in slices " +
                    std::to_string(r.slice) + "-" +
                    std::to_string(r.slice + r.width - 1) + "; the chip has " +
                    std::to_string(exam.machine.sram.vectorsPerBank) +
                    " addresses, " + std::to_string(exam.machine.sram.banks) +
                    " banks and " + std::to_string(exam.geometry.slices()) +
                    " slices");
    } else if (r.kind == RegionKind::Temporary && r.born >= r.dies) {
      exam.fail(Rule::Lifetime,
                "temporary region " + r.name + " dies before it is born");
    }
  }
  RegionMap map(program, exam.machine);
  std::set<std::pair<uint32_t, uint32_t>> reported;
  for (int s = 0; s < exam.geometry.slices(); ++s) {
    for (int b = 0; b < exam.machine.sram.banks; ++b) {
      OverlapSweep(exam, reported).run(map.of(s, b));
    }
  }
  addUp(exam, map);
  CapacityFigures &sram = exam.report.sram;
  int64_t chunks = chunkCount(queueTexts(program, exam.machine));
  sram.programBytes =
      chunks * exam.machine.fetchBytes() + tableBytes(program, exam.machine);
  Bytes have = sram.bytesOfKind[size_t(RegionKind::Instructions)];
  int64_t places = ChunkPlaces(program, exam.machine).count();
  if (have < sram.programBytes) {
    exam.fail(Rule::Capacity,
              "the instructions need " + std::to_string(sram.programBytes) +
                  " bytes, their regions have " + std::to_string(have));
  } else if (places < chunks) {
    exam.fail(Rule::Capacity,
              "the instructions need places for " + std::to_string(chunks) +
                  " chunks, their regions have " + std::to_string(places));
  }
}

} // namespace orrery::check
