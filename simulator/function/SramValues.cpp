#include "simulator/function/SramValues.h"

#include <algorithm>
#include <cstring>

namespace orrery::sim {

ReadValues::ReadValues(SramValues &sram, const MemAccess &access, bool constant)
    : sram(sram), access(access), constant(constant) {
  if (!constant) {
    done.resize(size_t(access.width));
    copies.resize(access.count() * size_t(access.width) * size_t(sram.lanes));
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
      pending[size_t(access.slice) + k].push_back(
          {values, nullptr, nullptr, k, access.ticksAt(k)});
    }
  }
  return values;
}

void SramValues::write(const MemAccess &access, Operands operands) {
  auto writer = std::make_shared<const MemAccess>(access);
  auto shared = std::make_shared<const Operands>(std::move(operands));
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    pending[size_t(access.slice) + k].push_back(
        {nullptr, writer, shared, k, access.ticksAt(k)});
  }
}

void SramValues::apply(const Pending &p, uint64_t vector) {
  if (p.reader) {
    p.reader->copy(vector, p.k);
    return;
  }
  const MemAccess &access = *p.writer;
  MemAccess::Lanes range = access.lanesOf(vector);
  if (range.low == range.high) {
    return;
  }
  access.onVector(vector, p.k, [&](uint32_t stream, int64_t address) {
    const Operand &operand = (*p.operands)[stream];
    operand.require(vector);
    std::memcpy(
        image.vector(access.slice + int32_t(p.k), access.bank, address) +
            range.low,
        operand.plane(vector) + range.low, range.high - range.low);
  });
}

void SramValues::advance(int32_t slice, Tick tick) {
  std::vector<Pending> &list = pending[size_t(slice)];
  while (!list.empty()) {
    size_t best = 0;
    for (size_t i = 1; i < list.size(); ++i) {
      best = list[i].due() < list[best].due() ? i : best;
    }
    if (list[best].due() > tick) {
      return;
    }
    // Go on with this burst while no other one of the slice comes before.
    Tick limit = tick;
    for (size_t i = 0; i < list.size(); ++i) {
      limit = i == best ? limit : std::min(limit, list[i].due());
    }
    Pending current = list[best];
    uint64_t end = current.ticks.countBefore(limit + 1);
    for (; current.next < end; ++current.next) {
      // What a write needs may look back at this slice, but only at earlier
      // cycles, and those are over.
      list[best].next = current.next;
      apply(current, current.next);
    }
    list[best].next = current.next;
    if (current.next == current.ticks.count()) {
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
