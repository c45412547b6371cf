#include "simulator/modules/MemColumn.h"

#include <algorithm>

namespace orrery::sim {

MemColumn::MemColumn(sc_core::sc_module_name name, ChipClock &clock, Step &step)
    : sc_module(name), step(step),
      queue(
          clock, step,
          [this](uint32_t number, Tick now) { issue(number, now); },
          [this](uint32_t tag, Tick now) { burstEnd(tag, now); }) {}

Tick MemColumn::firstTick(Tick tick, uint32_t slice, uint32_t width,
                          Direction direction) const {
  if (direction == Direction::East || width == 0) {
    return tick;
  }
  return tick - (step.geometry.ofSlice(int32_t(slice + width) - 1) -
                 step.geometry.ofSlice(int32_t(slice)));
}

void MemColumn::addRead(uint32_t number) {
  const auto &op = step.op<ReadOp>(number);
  Tick first = firstTick(step.instruction(number).tick, op.slice, op.width,
                         op.out.ref.direction);
  if (first < 0) {
    step.fail(number, first, "a slice of the range would act before cycle 0");
  }
  queue.add(number, first);
}

void MemColumn::addWrite(uint32_t number) {
  const auto &op = step.op<WriteOp>(number);
  Tick first = firstTick(step.instruction(number).tick, op.slice, op.width,
                         op.in.direction);
  if (first < 0) {
    step.fail(number, first, "a slice of the range would act before cycle 0");
  }
  queue.add(number, first);
}

void MemColumn::issue(uint32_t number, Tick now) {
  step.checked(number, [&] {
    const Operation &operation = step.instruction(number).operation;
    if (const auto *read = std::get_if<ReadOp>(&operation)) {
      issueRead(*read, number, now);
    } else {
      issueWrite(*std::get_if<WriteOp>(&operation), number, now);
    }
  });
}

uint32_t MemColumn::keep(const MemAccess &access, uint32_t region) {
  uint32_t tag;
  if (freeTags.empty()) {
    tag = uint32_t(open.size());
    open.push_back({access, region});
  } else {
    tag = freeTags.back();
    freeTags.pop_back();
    open[tag] = {access, region};
  }
  return tag;
}

void MemColumn::issueRead(const ReadOp &op, uint32_t number, Tick now) {
  // 1. Take what is due: the instruction, now for its earliest slice.
  Tick early = firstTick(0, op.slice, op.width, op.out.ref.direction);
  Tick tick = now - early;
  // 2. Check legality.
  MemAccess access(op, tick, number, step.machine, step.registers);
  uint32_t region = step.regions.find(access, now);
  step.ports.book(access, now);
  RegionKind kind = step.regions[region].kind;
  bool isConstant = kind == RegionKind::Weight || kind == RegionKind::Table;
  if (!isConstant && step.memory.history.read(access, region, now)) {
    queue.wakeAt(access.lastTick(), keep(access, region));
  }
  // 3. Values and streams.
  BurstSlot slot = step.driveRead(access, op.out, now);
  if (step.functional) {
    step.setValues(slot, step.sram->read(access, isConstant));
  }
  // 4. Book.
  count(access, number);
  Tick last = access.lastTick();
  step.done(number, tick, last + step.machine.timing.read, last + 1);
}

void MemColumn::issueWrite(const WriteOp &op, uint32_t number, Tick now) {
  Tick early = firstTick(0, op.slice, op.width, op.in.direction);
  Tick tick = now - early;
  MemAccess access(op, tick, number, step.machine, step.registers);
  uint32_t region = step.regions.find(access, now);
  step.ports.book(access, now);
  Operands operands;
  step.takeWrite(access, op.in, operands);
  step.memory.history.wrote(access, region, now);
  if (step.functional) {
    step.sram->write(access, std::move(operands));
    queue.wakeAt(access.lastTick(), keep(access, region));
  }
  count(access, number);
  Tick usable = access.lastTick() + step.machine.timing.write;
  step.done(number, tick, usable, usable);
}

void MemColumn::burstEnd(uint32_t tag, Tick) {
  const MemAccess &access = open[tag].access;
  step.checked(access.instruction, [&] {
    if (access.isWrite) {
      step.sram->finish(access);
    } else {
      step.memory.history.checkAgain(access, open[tag].region);
    }
  });
  freeTags.push_back(tag);
}

void MemColumn::count(const MemAccess &access, uint32_t number) {
  uint64_t vectors = access.count();
  auto lanes = uint64_t(step.machine.lanes);
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    int32_t slice = access.slice + int32_t(k);
    BurstTicks ticks = access.ticksAt(k);
    step.book(access.isWrite ? step.units.write(slice) : step.units.read(slice),
              number, vectors, ticks.first, ticks.last(), vectors);
    SliceCounters &c = step.result.counters.slices[size_t(slice)];
    if (!access.isWrite) {
      c.bytesRead += vectors * lanes;
    } else if (access.writesWhole()) {
      c.bytesWritten += vectors * lanes;
    } else {
      for (uint64_t n = 0; n < vectors; ++n) {
        MemAccess::Lanes range = access.lanesOf(n);
        access.onVector(n, k, [&](uint32_t, int64_t) {
          c.bytesWritten += range.high - range.low;
        });
      }
    }
  }
}

} // namespace orrery::sim
