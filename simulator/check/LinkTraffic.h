// What a part sends and receives on its links, and whether what one end sends
// suits what the other receives.
#pragma once

#include "machine/Program.h"

#include <optional>
#include <vector>

namespace orrery::check {

/// A send or a receive.
struct LinkBurst {
  uint32_t instruction;
  Tick tick;
  BurstShape shape;
  uint8_t width;

  /// Vectors times streams.
  uint64_t streamVectors() const { return shape.count() * width; }
  Tick last() const { return tick + shape.span(); }
};

/// All of one link, by tick.
struct LinkTraffic {
  std::vector<LinkBurst> sends, receives;
};

/// By link number, 0 (the host's, left empty) to `ports`, of a well-formed
/// program.
std::vector<LinkTraffic> linkTrafficOf(const Program &program, int32_t ports);

/// A vector of a burst that is received at `taken` and arrives only at
/// `arrived`, in ticks of the sender.
struct LateVector {
  uint64_t vector;
  Tick taken, arrived;
};

/// One direction of a cable, burst by burst. A run of a burst begins at f,
/// one vector each s ticks, and each takes c ticks to cross; so vector i of
/// the run has crossed at
///   max(F + (i + 1) c, f + i max(s, c) + c),
/// F being the tick at which the cable is free. Both are linear in i, as are
/// the receives, so that a run is settled without looking at its vectors.
class Crossing {
public:
  explicit Crossing(const LinkParameters &link) : link(link) {}

  /// Sends a burst and receives it, as many vectors of the same width; `shift`
  /// turns the receiver's ticks into the sender's. The first vector that is
  /// late, if any; the bursts after it have no meaning then.
  std::optional<LateVector> carry(const LinkBurst &send,
                                  const LinkBurst &receive, Tick shift);

private:
  const LinkParameters &link;
  Tick free = 0;
};

/// A vector of send burst `burst` that finds `held` stream vectors in the
/// receiver's buffer, with itself.
struct Overfull {
  size_t burst;
  uint64_t vector, held;
};

/// The first vector for which the buffer has no room: it holds a vector from
/// the tick of its send to that of its receive, when the place is free again.
/// Compares the first `bursts` bursts, which are alike at both ends and arrive
/// in time.
std::optional<Overfull> firstOverfull(const LinkTraffic &from,
                                      const LinkTraffic &to, size_t bursts,
                                      Tick shift, uint64_t room);

} // namespace orrery::check
