#include "tests/simulator/check/SramPlan.h"

#include <algorithm>

namespace orrery::test {

SramPlan::SramPlan(const Machine &machine) : m(&machine) {
  size_t cells = size_t(m->geometry().slices()) * m->sram.banks *
                 size_t(m->sram.vectorsPerBank);
  owner.assign(cells, -1);
  written.assign(cells, -1);
  notBefore.assign(cells, 0);
}

bool SramPlan::fits(const SramRegion &r) const {
  for (int s = r.slice; s < r.slice + r.width; ++s) {
    for (uint32_t a = r.base; a < r.base + r.length; ++a) {
      int before = owner[cell(s, r.bank, a)];
      if (before >= 0 &&
          !(r.kind == RegionKind::Temporary && regions[before].retired)) {
        return false;
      }
    }
  }
  return true;
}

std::optional<int> SramPlan::add(Random &random, const char *name,
                                 RegionKind kind, int width, int length,
                                 int low, int high, bool anywhere) {
  if (high - low + 1 < width || length > m->sram.vectorsPerBank) {
    return std::nullopt;
  }
  Geometry g = m->geometry();
  for (int attempt = 0; attempt < 40; ++attempt) {
    int slice = int(random.between(low, high - width + 1));
    if (!anywhere &&
        g.hemisphereOfSlice(slice) != g.hemisphereOfSlice(slice + width - 1)) {
      continue;
    }
    SramRegion r{name + std::to_string(regions.size()),
                 kind,
                 uint16_t(slice),
                 uint16_t(width),
                 uint8_t(random.between(0, m->sram.banks - 1)),
                 uint32_t(random.between(0, m->sram.vectorsPerBank - length)),
                 uint32_t(length)};
    if (!fits(r)) {
      continue;
    }
    take(r);
    return int(regions.size()) - 1;
  }
  return std::nullopt;
}

/// A region is born when all that it replaces is dead, not address by address.
void SramPlan::take(const SramRegion &r) {
  int index = int(regions.size());
  Tick dead = 0;
  auto eachCell = [&](auto apply) {
    for (int s = r.slice; s < r.slice + r.width; ++s) {
      for (uint32_t a = r.base; a < r.base + r.length; ++a) {
        apply(cell(s, r.bank, a));
      }
    }
  };
  eachCell([&](size_t c) {
    dead = std::max(dead, notBefore[c]);
    if (owner[c] >= 0) {
      dead = std::max(dead, regions[owner[c]].lastTick + 1);
    }
  });
  eachCell([&](size_t c) {
    owner[c] = index;
    written[c] = -1;
    notBefore[c] = dead;
  });
  regions.push_back({r});
}

Tick SramPlan::readableFrom(const Touch &t) const {
  const PlannedRegion &r = regions[owner[cell(t.slice, t.bank, t.address)]];
  if (r.region.kind == RegionKind::Kv) {
    return r.lastWrite < 0 ? 0 : r.lastWrite + m->timing.write;
  }
  if (r.region.kind != RegionKind::Temporary) {
    return 0;
  }
  return written[cell(t.slice, t.bank, t.address)] + m->timing.write;
}

Tick SramPlan::writableFrom(const Touch &t) const {
  return notBefore[cell(t.slice, t.bank, t.address)];
}

void SramPlan::enter(const Instruction &instruction) {
  bool write = std::holds_alternative<WriteOp>(instruction.operation);
  for (const Touch &t : touchesOf(instruction, *m)) {
    size_t c = cell(t.slice, t.bank, t.address);
    PlannedRegion &r = regions[owner[c]];
    r.firstTick = std::min(r.firstTick, t.tick);
    r.lastTick = std::max(r.lastTick, t.tick);
    if (write) {
      r.lastWrite = std::max(r.lastWrite, t.tick);
      written[c] = std::max(written[c], t.tick);
    }
  }
}

void SramPlan::finish(Program &program) const {
  for (const PlannedRegion &r : regions) {
    program.regions.push_back(r.region);
    if (r.region.kind == RegionKind::Temporary) {
      program.regions.back().born = r.firstTick;
      program.regions.back().dies = r.lastTick + 1;
    }
  }
}

} // namespace orrery::test
