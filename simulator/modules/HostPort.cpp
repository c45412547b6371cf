#include "simulator/modules/HostPort.h"

#include "simulator/function/HostValues.h"

namespace orrery::sim {
namespace {

/// Streams of an f32 vector.
constexpr uint32_t kStreams = 4;

void checkWidth(uint32_t width, Tick now) {
  if (width != kStreams) {
    throw Illegal(now, "expected " + std::to_string(kStreams) +
                           " streams on the host link, found " +
                           std::to_string(width));
  }
}

} // namespace

HostPort::HostPort(sc_core::sc_module_name name, ChipClock &clock, Step &step)
    : sc_module(name), step(step), position(step.geometry.ofHost()),
      linkIn(step.machine.timing.hostVector, step.machine.timing.host),
      linkOut(step.machine.timing.hostVector, 0),
      receives(
          clock, step,
          [this](uint32_t number, Tick now) {
            this->step.checked(number, [&] { issueReceive(number, now); });
          },
          nullptr),
      sends(
          clock, step,
          [this](uint32_t number, Tick now) {
            this->step.checked(number, [&] { issueSend(number, now); });
          },
          [this](uint32_t number, Tick) {
            this->step.checked(number, [&] { sendEnd(number); });
          }) {}

void HostPort::issueReceive(uint32_t number, Tick now) {
  const auto &op = step.op<ReceiveOp>(number);
  checkWidth(op.width, now);
  BurstTicks ticks = ticksOf(now, op.shape);
  bookedIn.book(ticks.first, ticks.last(), number, now);
  uint64_t first = linkIn.book(ticks);
  uint64_t count = ticks.count();
  uint64_t given = uint64_t(step.program.tokens) * step.program.inputVectors;
  if (first + count > given) {
    throw Illegal(now, "vectors " + std::to_string(first) + " to " +
                           std::to_string(first + count - 1) + " of " +
                           std::to_string(given) + " the host sends");
  }
  BurstSlot slot = step.drive(number, {{Direction::West, op.stream}, op.stop},
                              kStreams, position, now, ticks.shape, now);
  auto lanes = uint64_t(step.machine.lanes);
  if (step.functional) {
    step.setValues(slot, std::make_shared<HostValues>(
                             step.hostVectors.data() + first * lanes, count,
                             int32_t(lanes), step.memory.buffers));
  }
  step.result.counters.hostBytesIn += count * lanes * sizeof(float);
  step.book(step.units.linkIn(kHostLink), number, count, now, ticks.last(),
            count);
  step.done(number, now, ticks.last(), ticks.last() + 1);
}

void HostPort::issueSend(uint32_t number, Tick now) {
  const auto &op = step.op<SendOp>(number);
  checkWidth(op.width, now);
  BurstTicks ticks = ticksOf(now, op.shape);
  bookedOut.book(ticks.first, ticks.last(), number, now);
  linkOut.book(ticks);
  sending.clear();
  step.take({Direction::East, op.stream}, kStreams, position, ticks, sending);
  if (step.functional) {
    sends.wakeAt(ticks.last(), number);
  }
  uint64_t count = ticks.count();
  step.result.counters.hostBytesOut +=
      count * uint64_t(step.machine.lanes) * sizeof(float);
  step.book(step.units.linkOut(kHostLink), number, count, now, ticks.last(),
            count);
  Tick arrived = ticks.last() + step.machine.timing.host;
  step.done(number, now, arrived, arrived);
}

/// The whole burst is here: the host gets its values.
void HostPort::sendEnd(uint32_t number) {
  uint64_t count = step.op<SendOp>(number).shape.count();
  int32_t lanes = step.machine.lanes;
  for (uint64_t n = 0; n < count; ++n) {
    const uint8_t *planes[kStreams];
    for (size_t k = 0; k < kStreams; ++k) {
      sending[k].require(n);
      planes[k] = sending[k].plane(n);
    }
    std::vector<float> row(static_cast<size_t>(lanes));
    gatherF32(planes, lanes, row.data());
    step.result.hostOutput.push_back(std::move(row));
  }
}

} // namespace orrery::sim
