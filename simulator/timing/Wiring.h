// Which link number of which chip is at the other end of each link of a
// system's chips.
#pragma once

#include "machine/SystemProgram.h"

#include <string>
#include <vector>

namespace orrery::sim {

/// Ticks of a chip, and its start, are not above; times in SystemC's
/// picoseconds would overflow.
inline constexpr Tick kMaxTick = Tick(1) << 48;

/// One end of a link: a chip by its index in SystemProgram::chips, and the
/// number under which its part knows the link.
struct LinkEnd {
  uint32_t chip = 0;
  LinkNumber number = kHostLink;
  /// Why nobody is there; empty when somebody is.
  std::string missing;
  bool operator==(const LinkEnd &) const = default;
};

class Wiring {
public:
  /// One chip without links.
  Wiring() : links(1) {}
  /// Chips, parts, ports and starts that do not exist, or a port behind two
  /// link numbers: an error. A link that leads nowhere is none, as nobody may
  /// use it.
  static Expected<Wiring> of(const SystemProgram &program,
                             const Machine &machine);

  size_t chips() const { return links.size(); }
  /// Link numbers 1 .. of the chip.
  size_t linksOf(size_t chip) const { return links[chip].size(); }
  /// Who sends what the chip receives on link `number`.
  const LinkEnd &sender(size_t chip, size_t number) const {
    return links[chip][number - 1].sender;
  }
  /// Who receives what the chip sends on link `number`.
  const LinkEnd &receiver(size_t chip, size_t number) const {
    return links[chip][number - 1].receiver;
  }

private:
  struct Ends {
    LinkEnd sender, receiver;
  };
  std::vector<std::vector<Ends>> links; ///< [chip][number - 1]
};

} // namespace orrery::sim
