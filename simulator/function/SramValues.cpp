#include "simulator/function/SramValues.h"

#include <algorithm>
#include <cstring>

namespace orrery::sim {

ReadValues::ReadValues(SramValues &sram, const MemAccess &access, bool constant)
    : sram(sram), access(access), constant(constant) {
  if (!constant) {
    done.resize(size_t(access.width));
    copies = sram.pool.take(access.count() * size_t(access.width) *
                            size_t(sram.lanes));
  }
}

void ReadValues::require(uint64_t vector, uint32_t stream) {
  if (!constant && done[stream] <= vector) {
    sram.advance(access.slice + int32_t(stream),
                 access.ticksAt(stream).at(vector));
  }
}

const uint8_t *ReadValues::plane(uint64_t vector, uint32_t stream) const {
  if (constant) {
    return sram.image.vector(access.slice + int32_t(stream), access.bank,
                             access.address(vector));
  }
  return copies.data() +
         (vector * size_t(access.width) + stream) * size_t(sram.lanes);
}

void ReadValues::copy(uint64_t vector, uint32_t k) {
  std::memcpy(copies.data() +
                  (vector * size_t(access.width) + k) * size_t(sram.lanes),
              sram.image.vector(access.slice + int32_t(k), access.bank,
                                access.address(vector)),
              size_t(sram.lanes));
  done[k] = vector + 1;
}

std::shared_ptr<ReadValues> SramValues::read(const MemAccess &access,
                                             bool constant) {
  auto values = std::make_shared<ReadValues>(*this, access, constant);
  if (!constant) {
    for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
      BurstTicks ticks = access.ticksAt(k);
      pending[size_t(access.slice) + k].push_back(
          {values, nullptr, k, ticks, ticks.first});
    }
  }
  return values;
}

void SramValues::write(const MemAccess &access, Operands operands) {
  auto writer =
      std::make_shared<const Writer>(Writer{access, std::move(operands)});
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    BurstTicks ticks = access.ticksAt(k);
    pending[size_t(access.slice) + k].push_back(
        {nullptr, writer, k, ticks, ticks.first});
  }
}

void SramValues::apply(const Pending &p) {
  if (p.reader) {
    p.reader->copy(p.next, p.k);
    return;
  }
  const MemAccess &access = p.writer->access;
  MemAccess::Lanes range = access.lanesOf(p.next);
  if (range.low == range.high) {
    return;
  }
  access.onVector(p.next, p.k, [&](uint32_t stream, int64_t address) {
    const Operand &operand = p.writer->operands[stream];
    operand.require(p.next);
    std::memcpy(
        image.vector(access.slice + int32_t(p.k), access.bank, address) +
            range.low,
        operand.plane(p.next) + range.low, range.high - range.low);
  });
}

bool SramValues::proceed(Pending &p, Tick tick) {
  uint64_t end = p.ticks.countBefore(tick + 1);
  while (p.next < end) {
    // What a write needs may look back at this slice, but only at earlier
    // cycles, and those are over: the list of the slice stays as it is.
    apply(p);
    if (++p.next == p.ticks.count()) {
      return true;
    }
    p.due = p.ticks.at(p.next);
  }
  return false;
}

void SramValues::advance(int32_t slice, Tick tick) {
  std::vector<Pending> &list = pending[size_t(slice)];
  while (!list.empty()) {
    size_t best = 0;
    for (size_t i = 1; i < list.size(); ++i) {
      best = list[i].due < list[best].due ? i : best;
    }
    if (list[best].due > tick) {
      return;
    }
    // Go on with this burst while no other one of the slice comes before.
    Tick limit = tick;
    for (size_t i = 0; i < list.size(); ++i) {
      limit = i == best ? limit : std::min(limit, list[i].due);
    }
    if (proceed(list[best], limit)) {
      list.erase(list.begin() + ptrdiff_t(best));
    }
  }
}

void SramValues::finish(const MemAccess &access) {
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    advance(access.slice + int32_t(k), access.ticksAt(k).last());
  }
}

} // namespace orrery::sim
