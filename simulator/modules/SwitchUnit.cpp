#include "simulator/modules/SwitchUnit.h"

#include "simulator/function/PermuteValues.h"

namespace orrery::sim {

SwitchUnit::SwitchUnit(sc_core::sc_module_name name, ChipClock &clock,
                       Step &step, int32_t sxm)
    : sc_module(name), step(step), sxm(sxm),
      queue(
          clock, step,
          [this](uint32_t number, Tick now) {
            this->step.checked(number, [&] { issue(number, now); });
          },
          nullptr) {}

void SwitchUnit::check(const PermuteOp &op, Tick now) const {
  auto lanes = uint32_t(step.machine.lanes);
  if (op.count < 1 || op.width < 1) {
    throw Illegal(now, "a permutation of no vectors");
  }
  if (op.kind == PermuteKind::Transpose) {
    if (op.outWidth < 1 || op.rows < 1 || op.rows > lanes || op.count > lanes) {
      throw Illegal(now, "a transpose of " + std::to_string(op.count) +
                             " tokens and " + std::to_string(op.rows) +
                             " lanes on a chip of " + std::to_string(lanes) +
                             " lanes");
    }
    return;
  }
  if (op.map >= step.program.laneMaps.size() ||
      step.program.laneMaps[op.map].size() != lanes) {
    throw Illegal(now, "lane map " + std::to_string(op.map) +
                           " does not exist or has the wrong size");
  }
  for (uint16_t lane : step.program.laneMaps[op.map]) {
    if (lane >= lanes && lane != 0xffff) {
      throw Illegal(now, "lane map " + std::to_string(op.map) + " names lane " +
                             std::to_string(lane));
    }
  }
}

void SwitchUnit::issue(uint32_t number, Tick now) {
  // 1. and 2. The instruction that is due, and whether it may be issued.
  const auto &op = step.op<PermuteOp>(number);
  check(op, now);
  Position position = step.geometry.ofSxm(sxm);
  BurstTicks ticks = ticksOf(now, {op.count, 1, 1, 0});
  booked.book(ticks.first, ticks.last(), number, now);
  Operands operands;
  step.take(op.in, op.width, position, ticks, operands);
  // 3. Streams and values. A mapped vector leaves `permute` ticks after it
  // came; columns start `transpose` ticks after the last token vector.
  const TimingParameters &timing = step.machine.timing;
  bool isMap = op.kind == PermuteKind::LaneMap;
  Tick first = isMap ? now + timing.permute : ticks.last() + timing.transpose;
  uint32_t columns = uint32_t(op.rows) * op.width;
  uint32_t vectors =
      isMap ? op.count : (columns + op.outWidth - 1) / op.outWidth;
  BurstShape shape = canonical({vectors, 1, 1, 0});
  BurstSlot slot = step.drive(number, op.out, isMap ? op.width : op.outWidth,
                              position, first, shape, now);
  if (step.functional && isMap) {
    step.setValues(slot, std::make_shared<LaneMapValues>(
                             op, step.program.laneMaps[op.map],
                             std::move(operands), step.memory.buffers));
  } else if (step.functional) {
    step.setValues(slot, std::make_shared<TransposeValues>(
                             op, step.registers, std::move(operands),
                             step.memory.buffers));
  }
  // 4. Book.
  step.book(step.units.permute(sxm), number, op.count, now, ticks.last(),
            op.count);
  Tick completed = first + shape.span();
  step.done(number, now, completed, completed + 1);
}

} // namespace orrery::sim
