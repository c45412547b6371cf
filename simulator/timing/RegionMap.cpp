#include "simulator/timing/RegionMap.h"

#include <algorithm>

namespace orrery::sim {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

int64_t endOf(const SramRegion &r) { return int64_t(r.base) + r.length; }

[[noreturn]] void overlap(const SramRegion &a, const SramRegion &b) {
  throw Illegal(std::max(a.born, b.born),
                "regions '" + a.name + "' and '" + b.name + "' overlap");
}

} // namespace

RegionMap::RegionMap(const Program &program, const Machine &machine)
    : regions(program.regions), banks(machine.sram.banks),
      rowLength(machine.geometry().ofHost()),
      permanent(size_t(machine.geometry().slices()) * size_t(banks)),
      active(permanent.size()) {
  for (uint32_t i = 0; i < regions.size(); ++i) {
    const SramRegion &r = regions[i];
    if (r.width < 1 || r.slice + r.width > machine.geometry().slices() ||
        r.bank >= banks || endOf(r) > machine.sram.vectorsPerBank) {
      throw Illegal(0, "region '" + r.name + "' lies outside the SRAM");
    }
    if (r.kind == RegionKind::Temporary) {
      byBirth.emplace_back(r.born, i);
    } else {
      addPermanent(i);
    }
  }
  auto liesBelow = [&](uint32_t a, uint32_t b) {
    return regions[a].base < regions[b].base;
  };
  for (List &list : permanent) {
    if (!std::is_sorted(list.begin(), list.end(), liesBelow)) {
      std::sort(list.begin(), list.end(), liesBelow);
    }
    for (size_t i = 1; i < list.size(); ++i) {
      if (endOf(regions[list[i - 1]]) > regions[list[i]].base) {
        overlap(regions[list[i - 1]], regions[list[i]]);
      }
    }
  }
  std::sort(byBirth.begin(), byBirth.end());
}

void RegionMap::addPermanent(uint32_t region) {
  const SramRegion &r = regions[region];
  for (int32_t s = r.slice; s < r.slice + r.width; ++s) {
    permanent[index(s, r.bank)].push_back(region);
  }
}

void RegionMap::activateTemporaries(Tick upTo, Tick now) {
  for (; born < byBirth.size() && byBirth[born].first <= upTo; ++born) {
    const SramRegion &r = regions[byBirth[born].second];
    for (int32_t s = r.slice; s < r.slice + r.width; ++s) {
      size_t at = index(s, r.bank);
      std::erase_if(active[at], [&](uint32_t other) {
        return regions[other].dies + rowLength < now;
      });
      for (uint32_t other : active[at]) {
        const SramRegion &o = regions[other];
        if (o.base < endOf(r) && r.base < endOf(o) && r.born < o.dies) {
          overlap(o, r);
        }
      }
      uint32_t fixed = permanentAt(s, r.bank, r.base);
      if (fixed == kNone && r.length > 0) {
        fixed = permanentAt(s, r.bank, endOf(r) - 1);
      }
      if (fixed != kNone) {
        overlap(regions[fixed], r);
      }
      active[at].push_back(byBirth[born].second);
    }
  }
}

uint32_t RegionMap::permanentAt(int32_t slice, int32_t bank,
                                int64_t address) const {
  const List &list = permanent[index(slice, bank)];
  auto after = std::upper_bound(
      list.begin(), list.end(), address,
      [&](int64_t a, uint32_t r) { return a < int64_t(regions[r].base); });
  if (after == list.begin() || endOf(regions[*(after - 1)]) <= address) {
    return kNone;
  }
  return *(after - 1);
}

bool RegionMap::holds(const SramRegion &r, const MemAccess &a) const {
  if (a.low < r.base || a.high >= endOf(r) || a.slice < r.slice ||
      a.slice + a.width > r.slice + r.width) {
    return false;
  }
  return r.kind != RegionKind::Temporary ||
         (a.ticks.first >= r.born && a.ticks.last() < r.dies);
}

/// A wide access may run over several permanent regions of one kind.
bool RegionMap::isCovered(const MemAccess &a, RegionKind kind) const {
  for (uint32_t k = 0; k < uint32_t(a.width); ++k) {
    for (uint64_t n = 0; n < a.count(); ++n) {
      bool inside = true;
      a.onVector(n, k, [&](uint32_t, int64_t address) {
        uint32_t r = permanentAt(a.slice + int32_t(k), a.bank, address);
        inside = inside && r != kNone && regions[r].kind == kind;
      });
      if (!inside) {
        return false;
      }
    }
  }
  return true;
}

uint32_t RegionMap::find(const MemAccess &access, Tick now) {
  activateTemporaries(access.ticks.first, now);
  uint32_t found = kNone;
  for (uint32_t r : active[index(access.slice, access.bank)]) {
    if (holds(regions[r], access)) {
      found = r;
    }
  }
  if (found == kNone) {
    uint32_t r = permanentAt(access.slice, access.bank, access.low);
    if (r == kNone) {
      r = permanentAt(access.slice, access.bank, access.address(0));
    }
    if (r == kNone ||
        (!holds(regions[r], access) && !isCovered(access, regions[r].kind))) {
      notFound(access);
    }
    found = r;
  }
  const SramRegion &region = regions[found];
  if (region.kind == RegionKind::Instructions ||
      (access.isWrite && region.kind != RegionKind::Kv &&
       region.kind != RegionKind::Temporary)) {
    throw Illegal(access.ticks.first,
                  std::string(access.isWrite ? "write to" : "read of") +
                      " region '" + region.name + "', which is not for that");
  }
  return found;
}

void RegionMap::notFound(const MemAccess &a) const {
  std::string where = "slice " + std::to_string(a.slice) + " to " +
                      std::to_string(a.slice + a.width - 1) + " bank " +
                      std::to_string(a.bank) + " addresses " +
                      std::to_string(a.low) + " to " + std::to_string(a.high);
  for (const SramRegion &r : regions) {
    if (r.bank == a.bank && r.kind == RegionKind::Temporary &&
        a.low >= r.base && a.high < endOf(r) && a.slice >= r.slice &&
        a.slice + a.width <= r.slice + r.width) {
      throw Illegal(a.ticks.first, where + ": temporary '" + r.name +
                                       "' lives only in cycles [" +
                                       std::to_string(r.born) + ", " +
                                       std::to_string(r.dies) + ")");
    }
  }
  throw Illegal(a.ticks.first, where + " are in no declared region");
}

} // namespace orrery::sim
