#include "compiler/schedule/Hazards.h"

#include "machine/Timing.h"

#include <algorithm>

namespace orrery::schedule {

Hazards::Hazards(const Problem &problem, bool operandsOnly)
    : problem(problem), operandsOnly(operandsOnly), m(*problem.machine),
      g(m.geometry()), cells(size_t(g.slices()) * size_t(m.sram.banks)),
      caches(problem.caches), dies(problem.shares.size()),
      planes(size_t(g.planes())), links(problem, operandsOnly) {
  for (Plane &plane : planes) {
    plane.entries.resize(size_t(m.matrix.activationVectors));
  }
}

std::pair<uint32_t, uint32_t> Hazards::planesOf(uint32_t plane,
                                                WeightFormat format) const {
  auto per = uint32_t(m.matrix.planesPerHemisphere);
  return format == WeightFormat::F16
             ? std::pair(plane / per * per, plane / per * per + per)
             : std::pair(plane, plane + 1);
}

// visit(cell, tick offset, isRead) for every vector of a read or write in
// every slice. Dynamic addresses never reach temporaries.
template <class Visit>
void Hazards::forEachVector(const Member &member, Visit visit) const {
  auto slices = [&](uint32_t first, uint32_t width, uint32_t bank,
                    Direction direction, const AddressPattern &address,
                    const BurstShape &shape, bool read) {
    for (uint32_t k = 0; k < width; ++k) {
      auto &column = cells[(first + k) * uint32_t(m.sram.banks) + bank];
      if (column.empty()) {
        column.resize(size_t(m.sram.vectorsPerBank));
      }
      Position apart =
          g.ofSlice(int32_t(first + k)) - g.ofSlice(int32_t(first));
      Tick at = member.offset + (direction == Direction::East ? apart : -apart);
      for (uint64_t n = 0; n < shape.count(); ++n) {
        visit(column[size_t(address.at(n))], at + shape.at(n), read);
      }
    }
  };
  if (auto *op = std::get_if<ReadOp>(&member.operation)) {
    slices(op->slice, op->width, op->bank, op->out.ref.direction, op->address,
           op->shape, true);
  } else if (auto *op = std::get_if<WriteOp>(&member.operation)) {
    slices(op->slice, op->width, op->bank, op->in.direction, op->address,
           op->shape, false);
  }
}

// The first and last tick, from the member's own, at which slices of the
// range are accessed.
static std::pair<Tick, Tick> reach(const Geometry &g, const Member &member) {
  auto of = [&](uint32_t slice, uint32_t width, Direction direction,
                const BurstShape &shape) {
    Position apart =
        g.ofSlice(int32_t(slice + width - 1)) - g.ofSlice(int32_t(slice));
    Tick other = direction == Direction::East ? apart : -apart;
    return std::pair(std::min<Tick>(0, other),
                     std::max<Tick>(0, other) + shape.span());
  };
  if (auto *op = std::get_if<ReadOp>(&member.operation)) {
    return of(op->slice, op->width, op->out.ref.direction, op->shape);
  }
  auto &op = std::get<WriteOp>(member.operation);
  return of(op.slice, op.width, op.in.direction, op.shape);
}

Tick Hazards::earliestMemory(const Member &member) const {
  Tick start = 0;
  bool isRead = std::holds_alternative<ReadOp>(member.operation);
  if (member.memory == Memory::Kv) {
    const Cache &cache = caches[member.region];
    Tick first = member.offset + reach(g, member).first;
    if (cache.written >= 0 && isRead) {
      start = cache.written + m.timing.write - first;
    }
    // A cache is written by several gangs, each its own lanes or rows.
    if (cache.read >= 0 && !isRead && !operandsOnly) {
      start = std::max(start, cache.read + 1 - first);
    }
    return start;
  }
  if (member.memory == Memory::Temporary) {
    forEachVector(member, [&](const Cell &cell, Tick at, bool read) {
      if (read && cell.written >= 0) {
        start = std::max(start, cell.written + m.timing.write - at);
      }
    });
    if (!isRead && !operandsOnly) {
      Tick first = member.offset + reach(g, member).first;
      for (uint32_t other : problem.shares[member.region]) {
        start = std::max(start, dies[other] - first);
      }
    }
  }
  return start;
}

Tick Hazards::earliestPlane(const Member &member, const Gang &,
                            uint32_t base) const {
  Tick start = 0;
  auto after = [&](Tick bound, Tick offset) {
    start = std::max(start, bound - offset);
  };
  if (auto *op = std::get_if<LoadOp>(&member.operation)) {
    for (uint64_t n = 0; n < op->shape.count() && !operandsOnly; ++n) {
      after(planes[op->plane].entries[base + op->base + n].used + 1,
            member.offset + op->shape.at(n));
    }
  } else if (auto *op = std::get_if<InstallOp>(&member.operation)) {
    auto [from, to] = planesOf(op->plane, op->format);
    for (uint32_t p = from; p < to && !operandsOnly; ++p) {
      after(planes[p].installed, member.offset);
      after(planes[p].freed[0], member.offset);
      if (op->shape.runs > 1) {
        after(planes[p].freed[1], member.offset + op->shape.period);
      }
    }
  } else if (auto *op = std::get_if<MatmulOp>(&member.operation)) {
    auto [from, to] = planesOf(op->plane, op->format);
    uint32_t per = matmulTicksPerRow(m, op->format);
    for (uint32_t p = from; p < to && !operandsOnly; ++p) {
      after(planes[p].multiplied, member.offset);
    }
    for (uint32_t k = 0; k < op->inner; ++k) {
      for (uint32_t row = 0; row < op->rows; ++row) {
        after(planes[op->plane]
                  .entries[base + op->base + k * op->rows + row]
                  .ready,
              member.offset + Tick(k) * op->period + Tick(row) * per);
      }
    }
  }
  return start;
}

Tick Hazards::earliest(const Gang &gang, uint32_t base) const {
  Tick start = links.earliest(gang);
  for (const Member &member : gang.members) {
    start = std::max(start, -member.offset);
    if (member.memory != Memory::None) {
      start = std::max(start, -(member.offset + reach(g, member).first));
      start = std::max(start, earliestMemory(member));
    }
    if (auto *op = std::get_if<ReceiveOp>(&member.operation);
        op && op->link == kHostLink) {
      start = std::max(start, m.timing.host - member.offset);
    }
    start = std::max(start, earliestPlane(member, gang, base));
  }
  return start;
}

void Hazards::commitMemory(const Member &member, Tick start) {
  bool isRead = std::holds_alternative<ReadOp>(member.operation);
  if (member.memory == Memory::Kv) {
    Tick last = start + member.offset + reach(g, member).second;
    Cache &cache = caches[member.region];
    Tick &tick = isRead ? cache.read : cache.written;
    tick = std::max(tick, last);
  } else if (member.memory == Memory::Temporary) {
    Tick end = start + member.offset + reach(g, member).second + 1;
    dies[member.region] = std::max(dies[member.region], end);
    if (!isRead) {
      forEachVector(member, [&](Cell &cell, Tick at, bool) {
        cell.written = std::max(cell.written, start + at);
      });
    }
  }
}

void Hazards::commitPlane(const Member &member, uint32_t base, Tick start) {
  Tick at = start + member.offset;
  if (auto *op = std::get_if<LoadOp>(&member.operation)) {
    for (uint64_t n = 0; n < op->shape.count(); ++n) {
      planes[op->plane].entries[base + op->base + n].ready =
          at + op->shape.at(n) + m.timing.load;
    }
  } else if (auto *op = std::get_if<InstallOp>(&member.operation)) {
    auto [from, to] = planesOf(op->plane, op->format);
    for (uint32_t p = from; p < to; ++p) {
      planes[p].installed = at + op->shape.span() + 1;
    }
  } else if (auto *op = std::get_if<MatmulOp>(&member.operation)) {
    auto [from, to] = planesOf(op->plane, op->format);
    uint32_t per = matmulTicksPerRow(m, op->format);
    uint32_t passes = op->tiles * op->inner;
    auto freed = [&](uint32_t pass) {
      return at + Tick(pass) * op->period + Tick(op->rows) * per;
    };
    for (uint32_t p = from; p < to; ++p) {
      Plane &plane = planes[p];
      plane.multiplied = freed(passes - 1);
      plane.freed[0] = passes > 1 ? freed(passes - 2) : plane.freed[1];
      plane.freed[1] = freed(passes - 1);
    }
    Tick last = at + Tick(op->tiles - 1) * op->inner * op->period;
    for (uint32_t k = 0; k < op->inner; ++k) {
      for (uint32_t row = 0; row < op->rows; ++row) {
        Entry &entry =
            planes[op->plane].entries[base + op->base + k * op->rows + row];
        entry.used =
            std::max(entry.used, last + Tick(k) * op->period + Tick(row) * per);
      }
    }
  }
}

void Hazards::commit(const Gang &gang, uint32_t base, Tick start) {
  for (const Member &member : gang.members) {
    commitMemory(member, start);
    commitPlane(member, base, start);
  }
  links.commit(gang, start);
}

} // namespace orrery::schedule
