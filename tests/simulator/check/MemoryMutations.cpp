// Breaking what stands: banks, addresses, regions, and the program's figures.
#include "tests/simulator/check/MutationMakers.h"

namespace orrery::test {

bool swapBank(Program &p, const Machine &m, Random &r) {
  Instruction &i = any(p, r);
  auto bank = uint8_t(r.between(0, m.sram.banks - 1));
  if (auto *op = opOf<ReadOp>(i)) {
    op->bank = bank;
  } else if (auto *op = opOf<WriteOp>(i)) {
    op->bank = bank;
  }
  return goesAstray(i, p, m);
}
bool moveAddress(Program &p, const Machine &m, Random &r) {
  Instruction &i = any(p, r);
  AddressPattern *a = addressOf(i.operation);
  if (!a) {
    return false;
  }
  int64_t base = a->base + r.between(-40, 40);
  a->base = uint32_t(std::max<int64_t>(base, 0));
  return goesAstray(i, p, m);
}

/// Puts one region on top of another that lives at the same time.
bool overlap(Program &p, const Machine &, Random &r) {
  SramRegion &a = anyRegion(p, r);
  const SramRegion &b = anyRegion(p, r);
  bool both =
      a.kind == RegionKind::Temporary && b.kind == RegionKind::Temporary;
  if (&a == &b || a.width > b.width || a.length > b.length ||
      (both && (a.born >= b.dies || b.born >= a.dies))) {
    return false;
  }
  a.slice = b.slice;
  a.bank = b.bank;
  a.base = b.base;
  return true;
}
bool constantWritten(Program &p, const Machine &m, Random &r) {
  SramRegion &region = anyRegion(p, r);
  if (region.kind != RegionKind::Temporary && region.kind != RegionKind::Kv) {
    return false;
  }
  region.kind = r.chance(50) ? RegionKind::Weight : RegionKind::Table;
  region.born = region.dies = 0;
  for (Instruction &i : p.instructions) {
    for (const Touch &t : touchesOf(i, m)) {
      if (opOf<WriteOp>(i) && holds(region, t)) {
        return true;
      }
    }
  }
  return false;
}
bool uninitialised(Program &p, const Machine &m, Random &r) {
  SramRegion &region = anyRegion(p, r);
  if (region.kind != RegionKind::Table && region.kind != RegionKind::Weight) {
    return false;
  }
  region.kind = RegionKind::Temporary;
  region.dies = p.predictedTicks + 1;
  for (Instruction &i : p.instructions) {
    for (const Touch &t : touchesOf(i, m)) {
      if (holds(region, t)) {
        return true;
      }
    }
  }
  return false;
}
bool shortenRegion(Program &p, const Machine &m, Random &r) {
  SramRegion &region = anyRegion(p, r);
  if (region.length < 2) {
    return false;
  }
  --region.length;
  for (const Instruction &i : p.instructions) {
    if (goesAstray(i, p, m)) {
      return true;
    }
  }
  return false;
}
bool shortenLife(Program &p, const Machine &m, Random &r) {
  SramRegion &region = anyRegion(p, r);
  if (region.kind != RegionKind::Temporary) {
    return false;
  }
  if (r.chance(50)) {
    ++region.born;
  } else {
    --region.dies;
  }
  // Where the first slice of an access acts: its tick is the instruction's.
  for (const Instruction &i : p.instructions) {
    std::vector<Touch> touches = touchesOf(i, m);
    for (const Touch &t : touches) {
      if (t.slice == touches[0].slice && holds(region, t) &&
          (t.tick == region.born - 1 || t.tick == region.dies)) {
        return region.born < region.dies;
      }
    }
  }
  return false;
}
bool noRoomForText(Program &p, const Machine &, Random &) {
  std::erase_if(p.regions, [](const SramRegion &region) {
    return region.kind == RegionKind::Instructions;
  });
  return true;
}
/// The host's vectors one tick before they can be there.
bool earlyHost(Program &p, const Machine &m, Random &) {
  for (Instruction &i : p.instructions) {
    if (opOf<ReceiveOp>(i)) {
      Tick by = m.timing.host - 1 - i.tick;
      uint32_t gang = i.location;
      for (Instruction &other : p.instructions) {
        other.tick += other.location == gang ? by : 0;
      }
      return std::all_of(p.instructions.begin(), p.instructions.end(),
                         [](const Instruction &j) { return j.tick >= 0; });
    }
  }
  return false;
}
bool longContext(Program &p, const Machine &m, Random &) {
  p.context += 4 * uint32_t(m.lanes);
  return std::any_of(
      p.regions.begin(), p.regions.end(),
      [](const SramRegion &r) { return r.kind == RegionKind::Kv; });
}

} // namespace orrery::test
