#include "runtime/SramUse.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace orrery::runtime {
namespace {

/// Who holds an address: an owner's number, 0 for nobody.
struct Owner {
  RegionKind kind;
  std::string name;
};

class SramMap {
public:
  SramMap(const Machine &machine, SramUse &use)
      : machine(machine), use(use),
        cells(size_t(machine.sramBytes() / machine.lanes), 0) {
    owners.push_back({});
  }

  void add(const Program &program, size_t number) {
    for (const SramRegion &r : program.regions) {
      auto [owner, isNew] = ownerOf(r, program, number);
      if (isNew && r.kind != RegionKind::Temporary) {
        use.regionBytes[size_t(r.kind)] += r.bytes(machine.lanes);
      }
      for (int32_t slice = r.slice; slice < r.slice + r.width; ++slice) {
        claim(slice, r, owner);
      }
    }
  }

private:
  // What lasts is the same region in every program; text is a program's own;
  // all temporaries are one owner.
  std::pair<uint32_t, bool> ownerOf(const SramRegion &r, const Program &program,
                                    size_t number) {
    bool text = r.kind == RegionKind::Instructions;
    bool temporary = r.kind == RegionKind::Temporary;
    auto key = temporary ? Key{r.kind, "", 0, 0, 0, 0, 0, 0}
                         : Key{r.kind, r.name, r.slice,  r.width,
                               r.bank, r.base, r.length, text ? number + 1 : 0};
    auto [at, isNew] = numbers.try_emplace(key, uint32_t(owners.size()));
    if (isNew) {
      std::string of = " of T=" + std::to_string(program.tokens) +
                       " bucket=" + std::to_string(program.bucket);
      owners.push_back(
          {r.kind, temporary ? "temporaries" : r.name + (text ? of : "")});
    }
    return {at->second, isNew};
  }

  void claim(int32_t slice, const SramRegion &r, uint32_t owner) {
    size_t first = (size_t(slice) * size_t(machine.sram.banks) + r.bank) *
                       size_t(machine.sram.vectorsPerBank) +
                   r.base;
    for (size_t cell = first; cell < first + r.length; ++cell) {
      if (cells[cell] == 0) {
        cells[cell] = owner;
        use.bytes[size_t(r.kind)] += machine.lanes;
      } else if (cells[cell] != owner && use.conflict.empty()) {
        use.conflict = owners[cells[cell]].name + " and " + owners[owner].name +
                       " share slice " + std::to_string(slice) + " bank " +
                       std::to_string(r.bank) + " address " +
                       std::to_string(r.base + (cell - first));
      }
    }
  }

  using Key = std::tuple<RegionKind, std::string, uint16_t, uint16_t, uint8_t,
                         uint32_t, uint32_t, size_t>;
  const Machine &machine;
  SramUse &use;
  std::vector<uint32_t> cells;
  std::vector<Owner> owners;
  std::map<Key, uint32_t> numbers;
};

} // namespace

bool SramUse::addsUp() const {
  Bytes used = std::accumulate(bytes.begin(), bytes.end(), Bytes(0));
  for (RegionKind kind : {RegionKind::Weight, RegionKind::Table, RegionKind::Kv,
                          RegionKind::Instructions}) {
    if (bytes[size_t(kind)] != regionBytes[size_t(kind)]) {
      return false;
    }
  }
  return conflict.empty() && free >= 0 && used + free == capacity;
}

SramUse sramUse(const Machine &machine,
                std::span<const Program *const> programs) {
  SramUse use;
  use.capacity = machine.sramBytes();
  SramMap map(machine, use);
  for (size_t p = 0; p < programs.size(); ++p) {
    map.add(*programs[p], p);
  }
  use.free = use.capacity -
             std::accumulate(use.bytes.begin(), use.bytes.end(), Bytes(0));
  return use;
}

static void addTo(SramUse &total, const SramUse &use) {
  for (size_t kind = 0; kind < use.bytes.size(); ++kind) {
    total.bytes[kind] += use.bytes[kind];
    total.regionBytes[kind] += use.regionBytes[kind];
  }
  total.free += use.free;
  total.capacity += use.capacity;
  if (total.conflict.empty()) {
    total.conflict = use.conflict;
  }
}

bool SystemSram::addsUp() const {
  return std::ranges::all_of(parts,
                             [](const SramUse &use) { return use.addsUp(); });
}

SystemSram systemSram(const Machine &machine,
                      std::span<const SystemProgram *const> programs) {
  SystemSram out;
  const SystemProgram &first = *programs.front();
  for (size_t part = 0; part < first.parts.size(); ++part) {
    std::vector<const Program *> set;
    for (const SystemProgram *program : programs) {
      set.push_back(&program->parts[part]);
    }
    out.parts.push_back(sramUse(machine, set));
    if (out.parts[part].free < out.chip().free) {
      out.fullest = part;
    }
  }
  for (const ChipProgram &chip : first.chips) {
    addTo(out.total, out.parts[chip.part]);
  }
  out.chips = int64_t(first.chips.size());
  return out;
}

const char *sramKindName(RegionKind kind) {
  constexpr const char *kNames[] = {"weights", "tables", "KV cache",
                                    "temporaries", "program"};
  return kNames[size_t(kind)];
}

} // namespace orrery::runtime
