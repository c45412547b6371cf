#include "simulator/timing/LinkLane.h"

#include <algorithm>

namespace orrery::sim {
namespace {

std::string form(uint64_t vectors, uint32_t width) {
  return std::to_string(vectors) + (vectors == 1 ? " vector" : " vectors") +
         " of " + std::to_string(width) + (width == 1 ? " stream" : " streams");
}

} // namespace

SentBurst LinkWire::send(const BurstTicks &ticks, uint32_t width,
                         uint32_t instruction) {
  SentBurst burst{instruction, width, ticks, free};
  cross(burst, vectorTicks, [&](uint64_t, Tick crossed) { free = crossed; });
  return burst;
}

void LinkLane::receive(const BurstTicks &ticks, uint32_t width) {
  if (nextReceived == bursts.size()) {
    throw Illegal(ticks.first, "expected " + form(ticks.count(), width) +
                                   " from " + sender +
                                   ", found nothing that it has sent by now");
  }
  Burst &burst = bursts[nextReceived];
  const SentBurst &sent = burst.sent;
  std::string what =
      "instruction " + std::to_string(sent.instruction) + " of " + sender;
  if (sent.width != width || sent.ticks.count() != ticks.count()) {
    throw Illegal(ticks.first,
                  "expected " + form(ticks.count(), width) + ", found " +
                      form(sent.ticks.count(), sent.width) + " from " + what);
  }
  LinkWire::cross(sent, link.vectorTicks, [&](uint64_t n, Tick crossed) {
    Tick arrived = crossed + link.latency + shift;
    if (ticks.at(n) < arrived) {
      throw Illegal(ticks.at(n), "expected vector " + std::to_string(n) +
                                     " of the burst, found that it arrives in "
                                     "cycle " +
                                     std::to_string(arrived) + ", from " +
                                     what);
    }
    held += uint64_t(ticks.at(n) - arrived) * width;
  });
  burst.received = ticks;
  ++nextReceived;
}

void LinkLane::advance(Place &place) const {
  if (++place.vector == bursts[place.burst].sent.ticks.count()) {
    place = {place.burst + 1, 0};
  }
}

/// Takes out of the buffer what was received up to `upTo`.
void LinkLane::leave(Tick upTo) {
  while (leaving.burst < nextReceived &&
         bursts[leaving.burst].received.at(leaving.vector) <= upTo) {
    buffered -= bursts[leaving.burst].sent.width;
    advance(leaving);
  }
}

/// Drops the bursts that have left the buffer.
void LinkLane::forget() {
  bursts.erase(bursts.begin(), bursts.begin() + ptrdiff_t(leaving.burst));
  nextReceived -= leaving.burst;
  entering.burst -= leaving.burst;
  leaving.burst = 0;
}

std::optional<LinkLane::Overflow> LinkLane::follow(Tick now) {
  while (entering.burst < bursts.size()) {
    const SentBurst &sent = bursts[entering.burst].sent;
    Tick tick = sent.ticks.at(entering.vector);
    if (tick + shift >= now) {
      break;
    }
    leave(tick + shift);
    buffered += sent.width;
    most = std::max(most, buffered);
    if (buffered > uint64_t(link.bufferVectors)) {
      return Overflow{
          sent.instruction,
          Illegal(tick, "vector " + std::to_string(entering.vector) +
                            " of the burst: expected at most " +
                            std::to_string(link.bufferVectors) +
                            " vectors that are sent and not yet received, "
                            "found " +
                            std::to_string(buffered))};
    }
    advance(entering);
  }
  forget();
  return std::nullopt;
}

std::optional<SentBurst> LinkLane::leftover() const {
  if (nextReceived == bursts.size()) {
    return std::nullopt;
  }
  return bursts[nextReceived].sent;
}

} // namespace orrery::sim
