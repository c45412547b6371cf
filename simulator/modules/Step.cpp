#include "simulator/modules/Step.h"

#include "simulator/report/Waits.h"

#include <algorithm>

namespace orrery::sim {
namespace {

std::string sliceRange(uint32_t slice, uint32_t width) {
  return width == 1 ? "slice " + std::to_string(slice)
                    : "slices " + std::to_string(slice) + "-" +
                          std::to_string(slice + width - 1);
}

std::string linkName(const char *way, LinkNumber link) {
  return link == kHostLink
             ? std::string("host ") + way
             : std::string("link ") + way + " " + std::to_string(link);
}

/// The queue an instruction belongs to, as errors name it.
struct NameUnit {
  std::string operator()(const ReadOp &o) const {
    return sliceRange(o.slice, o.width) + " read";
  }
  std::string operator()(const WriteOp &o) const {
    return sliceRange(o.slice, o.width) + " write";
  }
  std::string operator()(const LoadOp &o) const {
    return "plane " + std::to_string(o.plane) + " load";
  }
  std::string operator()(const InstallOp &o) const {
    return "plane " + std::to_string(o.plane) + " install";
  }
  std::string operator()(const MatmulOp &o) const {
    return "plane " + std::to_string(o.plane) + " matmul";
  }
  std::string operator()(const VectorOp &) const { return "vxm"; }
  std::string operator()(const PermuteOp &o) const {
    return o.sxm == 0 ? "sxm west" : "sxm east";
  }
  std::string operator()(const ReceiveOp &o) const {
    return linkName("in", o.link);
  }
  std::string operator()(const SendOp &o) const {
    return linkName("out", o.link);
  }
  std::string operator()(const FetchOp &) const { return "icu"; }
};

} // namespace

Step::Step(const StepTask &task, StepResult &result)
    : machine(task.machine), program(task.program),
      hostVectors(task.hostVectors), start(task.start), name(task.name),
      geometry(machine.geometry()),
      registers{task.position, task.validTokens, uint32_t(machine.lanes)},
      functional(task.memory.image != nullptr), units(machine),
      memory(task.memory), result(result), fabric(machine), ports(machine),
      regions(program, machine), buffers(program, machine), chip(task.chip),
      trace(task.trace) {
  memory.history.beginStep(regions);
  if (functional) {
    sramValues = std::make_unique<SramValues>(*memory.image, memory.buffers,
                                              machine.lanes, geometry.slices());
    sram = sramValues.get();
  }
  result.executed.assign(program.instructions.size(), -1);
  result.completed.assign(program.instructions.size(), -1);
  result.counters = makeCounters(machine);
}

BurstSlot Step::drive(uint32_t number, const StreamOut &out, uint32_t streams,
                      Position from, Tick first, const BurstShape &shape,
                      Tick now) {
  positions.assign(streams, from);
  DrivenBurst burst;
  burst.direction = out.ref.direction;
  burst.firstStream = out.ref.stream;
  burst.diagonals = ticksOf(diagonal(out.ref.direction, first, from), shape);
  burst.stop = out.stop;
  burst.instruction = number;
  return fabric.publish(burst, positions, now);
}

BurstSlot Step::driveRead(const MemAccess &access, const StreamOut &out,
                          Tick now) {
  positions.clear();
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    positions.push_back(access.positionOf(k));
  }
  DrivenBurst burst;
  burst.direction = out.ref.direction;
  burst.firstStream = out.ref.stream;
  burst.diagonals = {diagonal(out.ref.direction,
                              access.ticks.first + machine.timing.read,
                              positions[0]),
                     access.ticks.shape};
  burst.stop = out.stop;
  burst.instruction = access.instruction;
  burst.fromSram = true;
  return fabric.publish(burst, positions, now);
}

void Step::setValues(BurstSlot slot, std::shared_ptr<BurstValues> burst) {
  if (slot >= values.size()) {
    values.resize(slot + 1);
  }
  values[slot] = std::move(burst);
}

void Step::take(Direction direction, uint32_t stream, Position position,
                const BurstTicks &ticks, Operands &operands) {
  TakenStream taken = fabric.take(direction, stream, position, ticks);
  if (functional) {
    operands.push_back({values[taken.slot], taken.stream, taken.vector});
  }
}

void Step::take(const StreamRef &ref, uint32_t streams, Position position,
                const BurstTicks &ticks, Operands &operands) {
  if (functional) {
    operands.reserve(operands.size() + streams);
  }
  for (uint32_t k = 0; k < streams; ++k) {
    take(ref.direction, ref.stream + k, position, ticks, operands);
  }
}

void Step::takeWrite(const MemAccess &access, const StreamRef &ref,
                     Operands &operands) {
  if (!access.isStriped()) {
    if (functional) {
      operands.reserve(size_t(access.width));
    }
    for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
      take(ref.direction, ref.stream + k, access.positionOf(k),
           access.ticksAt(k), operands);
    }
    return;
  }
  // Every slice of the range watches the same streams.
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    Operands watched;
    take(ref, access.streams(), access.positionOf(k), access.ticksAt(k),
         watched);
    if (k == 0) {
      operands = std::move(watched);
    }
  }
}

void Step::book(size_t unit, uint32_t number, uint64_t vectors, Tick first,
                Tick last, uint64_t busy) {
  UnitCounters &counters = result.counters.units[unit];
  ++counters.instructions;
  counters.vectors += vectors;
  counters.busyTicks += busy;
  if (trace != nullptr) {
    trace->add(chip, unit, number, start + first, start + last);
  }
}

void Step::done(uint32_t number, Tick executed, Tick completed, Tick end) {
  result.executed[number] = executed;
  result.completed[number] = completed;
  endTick = std::max(endTick, end);
}

void Step::finish() {
  fabric.finish();
  Counters &c = result.counters;
  auto lanes = uint64_t(machine.lanes);
  for (uint32_t d = 0; d < 2; ++d) {
    for (uint32_t s = 0; s < uint32_t(machine.streamsPerDirection); ++s) {
      const StreamTotals &t = fabric.totals(Direction(d), s);
      c.streams[d * size_t(machine.streamsPerDirection) + s] = {
          t.vectors, t.hops * lanes, t.dropped};
    }
  }
  c.readBytesTaken = fabric.sramTaken() * lanes + c.fetchedBytes;
  c.readBytesDropped = fabric.sramDropped() * lanes;
  result.ticks = endTick;
  countWaits(program, result);
  finishCounters(c, machine, endTick);
}

std::string Step::unitName(uint32_t number) const {
  return std::visit(NameUnit(), instruction(number).operation);
}

void Step::failOn(const std::string &chip, uint32_t number, Tick due,
                  const std::string &found) const {
  const Instruction &i = instruction(number);
  std::string where = i.location < program.locations.size()
                          ? " (" + program.locations[i.location] + ")"
                          : "";
  throw Violation{(chip.empty() ? "" : chip + ": ") + unitName(number) +
                  ": instruction " + std::to_string(number) + " " +
                  mnemonic(i.operation) + where + ", cycle " +
                  std::to_string(due) + ": " + found};
}

} // namespace orrery::sim
