// One direction of a chip-to-chip (C2C) cable as a rule: vectors cross it one
// after another, lie in the receiver's buffer, and are received in the order in
// which they were sent, burst by burst. Knows times and widths, no values.
#pragma once

#include "machine/Machine.h"
#include "simulator/timing/BurstTicks.h"
#include "simulator/timing/Illegal.h"

#include <deque>
#include <optional>
#include <string>

namespace orrery::sim {

/// A burst that was sent, in the sender's ticks.
struct SentBurst {
  uint32_t instruction = 0;
  uint32_t width = 1; ///< streams
  BurstTicks ticks;
  Tick free = 0; ///< when the bursts before it have crossed
};

/// The sender's end: what is on the wire already.
class LinkWire {
public:
  explicit LinkWire(const LinkParameters &link)
      : vectorTicks(link.vectorTicks) {}

  SentBurst send(const BurstTicks &ticks, uint32_t width, uint32_t instruction);

  /// Calls f(n, tick) for each vector n of the burst, `tick` when all its
  /// streams have crossed. It begins to when it is there and the one before has
  /// crossed.
  template <class F>
  static void cross(const SentBurst &burst, Tick vectorTicks, F f) {
    Tick free = burst.free;
    for (uint64_t n = 0; n < burst.ticks.count(); ++n) {
      free = std::max(free, burst.ticks.at(n)) + burst.width * vectorTicks;
      f(n, free);
    }
  }

private:
  Tick vectorTicks;
  Tick free = 0;
};

/// The receiver's end. A vector is in the buffer from the tick at which it was
/// sent up to, not including, the tick at which it is received. All ticks are
/// the receiver's unless said otherwise.
class LinkLane {
public:
  /// `shift`: the sender's tick t is the receiver's tick t + shift. `sender`
  /// names it in errors.
  LinkLane(const LinkParameters &link, Tick shift, std::string sender)
      : link(link), shift(shift), sender(std::move(sender)) {}

  /// A burst is sent. Bursts come in order, each before its first vector can
  /// arrive.
  void enter(const SentBurst &burst) { bursts.push_back({burst, {}}); }
  /// The next burst is received in the cycles `ticks`. Illegal when it is not
  /// of that form, or has not arrived.
  void receive(const BurstTicks &ticks, uint32_t width);

  /// A sent vector for which there is no room, its cycle in the sender's ticks.
  struct Overflow {
    uint32_t instruction;
    Illegal illegal;
  };
  /// Follows the buffer through all cycles before `now`, of which all sends
  /// and receives are known.
  std::optional<Overflow> follow(Tick now);
  /// The first burst that nobody received.
  std::optional<SentBurst> leftover() const;

  /// Most vectors that were in the buffer, as far as it was followed.
  uint64_t mostBuffered() const { return most; }
  /// Ticks that vectors could have been received earlier, summed over them.
  uint64_t heldTicks() const { return held; }

private:
  struct Burst {
    SentBurst sent;
    BurstTicks received; ///< of those before `nextReceived`
  };
  /// A vector of a burst.
  struct Place {
    size_t burst = 0;
    uint64_t vector = 0;
  };
  void advance(Place &place) const;
  void leave(Tick upTo);
  void forget();

  LinkParameters link;
  Tick shift;
  std::string sender;
  std::deque<Burst> bursts;
  size_t nextReceived = 0;
  Place entering, leaving; ///< the next vectors to do so in `follow`
  uint64_t buffered = 0, most = 0, held = 0;
};

} // namespace orrery::sim
