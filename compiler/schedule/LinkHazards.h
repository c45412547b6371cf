// What a send or a receive must wait for: vectors that have arrived, and room
// in the buffer at the other end. Of the links inside a tensor-parallel group,
// whose chips all do what this one does.
#pragma once

#include "compiler/schedule/Problem.h"

#include <deque>
#include <map>

namespace orrery::schedule {

class LinkHazards {
public:
  /// With `operandsOnly`, room is no matter.
  LinkHazards(const Problem &problem, bool operandsOnly)
      : problem(problem), operandsOnly(operandsOnly) {}

  /// The first start of the gang; kNever when it would wait for a send or a
  /// receive that comes after it.
  Tick earliest(const Gang &gang) const;
  void commit(const Gang &gang, Tick start);

  static constexpr Tick kNever = Tick(1) << 50;

private:
  struct Received {
    Tick tick;
    uint64_t vectors; ///< stream vectors received so far, this one included
  };
  struct LinkBooks {
    Tick free = 0; ///< nothing left to carry from here on
    // Vectors keep their order: bursts go and come in that of the program.
    Tick sentUntil = 0, receivedUntil = 0;
    uint64_t sent = 0;                      ///< stream vectors
    std::deque<std::vector<Tick>> arriving; ///< by burst not yet received
    std::vector<Received> received;
  };

  bool isMirrored(LinkNumber link) const {
    return link != kHostLink && link <= problem.groupLinks;
  }
  Tick roomFor(const LinkBooks &link, uint64_t vectors) const;

  const Problem &problem;
  bool operandsOnly;
  std::map<LinkNumber, LinkBooks> links;
};

} // namespace orrery::schedule
