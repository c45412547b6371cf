#include "simulator/modules/ChipLink.h"

namespace orrery::sim {
namespace {

void checkWidth(uint32_t width, Tick now) {
  if (width < 1) {
    throw Illegal(now, "a burst of no streams");
  }
}

} // namespace

ChipLink::ChipLink(sc_core::sc_module_name name, ChipClock &clock, Step &step,
                   LinkNumber link)
    : sc_module(name), step(step), link(link), position(step.geometry.ofHost()),
      wire(step.machine.link),
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
            takeSent(this->step.op<SendOp>(number).shape.count() - 1);
          }) {}

void ChipLink::connect(ChipLink &sender, const std::string &chip, Tick shift) {
  inward.emplace(
      Inward{LinkLane(step.machine.link, shift, chip), &sender.step, chip, {}});
  sender.outward.push_back(&*inward);
}

void ChipLink::issueReceive(uint32_t number, Tick now) {
  // 1. and 2. The instruction that is due, and whether it may be issued.
  const auto &op = step.op<ReceiveOp>(number);
  checkWidth(op.width, now);
  BurstTicks ticks = ticksOf(now, op.shape);
  bookedIn.book(ticks.first, ticks.last(), number, now);
  if (!inward) {
    throw Illegal(now, noSender);
  }
  follow(now);
  inward->lane.receive(ticks, op.width);
  // 3. Streams and values.
  BurstSlot slot = step.drive(number, {{Direction::West, op.stream}, op.stop},
                              op.width, position, now, ticks.shape, now);
  if (step.functional) {
    step.setValues(slot, std::move(inward->values.front()));
    inward->values.pop_front();
  }
  // 4. Book.
  uint64_t count = ticks.count();
  counters().bytesIn += count * op.width * uint64_t(step.machine.lanes);
  step.book(step.units.linkIn(link), number, count, now, ticks.last(), count);
  step.done(number, now, ticks.last(), ticks.last() + 1);
}

void ChipLink::issueSend(uint32_t number, Tick now) {
  const auto &op = step.op<SendOp>(number);
  checkWidth(op.width, now);
  BurstTicks ticks = ticksOf(now, op.shape);
  bookedOut.book(ticks.first, ticks.last(), number, now);
  // With nobody outward and a receiver all the same, one like it listens to a
  // sender like this one.
  if (outward.empty() && !noReceiver.empty()) {
    throw Illegal(now, noReceiver);
  }
  Operands operands;
  step.take({Direction::East, op.stream}, op.width, position, ticks, operands);
  SentBurst burst = wire.send(ticks, op.width, number);
  uint64_t count = ticks.count();
  if (step.functional) {
    sending = number;
    sent = std::make_shared<LinkValues>(std::move(operands), count,
                                        step.machine.lanes, step.memory.buffers,
                                        [this](uint64_t n) { takeSent(n); });
    sends.wakeAt(ticks.last(), number);
  }
  for (Inward *receiver : outward) {
    receiver->lane.enter(burst);
    if (step.functional) {
      receiver->values.push_back(sent);
    }
  }
  uint64_t vectors = count * op.width; // of one stream
  counters().bytesOut += vectors * uint64_t(step.machine.lanes);
  counters().crossingTicks += vectors * uint64_t(step.machine.link.vectorTicks);
  step.book(step.units.linkOut(link), number, count, now, ticks.last(), count);
  Tick gone = ticks.last() + 1;
  step.done(number, now, gone, gone);
}

void ChipLink::takeSent(uint64_t upTo) {
  step.checked(sending, [&] { sent->take(upTo); });
}

/// Too much in the buffer is the sender's fault.
void ChipLink::follow(Tick now) {
  if (auto overflow = inward->lane.follow(now)) {
    inward->sender->failOn(inward->chip, overflow->instruction,
                           overflow->illegal.due, overflow->illegal.found);
  }
}

void ChipLink::finish() {
  if (!inward) {
    return;
  }
  follow(INT64_MAX);
  if (auto left = inward->lane.leftover()) {
    inward->sender->failOn(
        inward->chip, left->instruction, left->ticks.first,
        "expected that " + (step.name.empty() ? "the other end" : step.name) +
            " receives the " + std::to_string(left->ticks.count()) +
            " vectors of the burst, found them in its link " +
            std::to_string(link) + " when the step ends");
  }
  counters().mostBufferedVectors = inward->lane.mostBuffered();
  counters().heldVectorTicks = inward->lane.heldTicks();
}

} // namespace orrery::sim
