#include "simulator/timing/Wiring.h"

#include <utility>

namespace orrery::sim {
namespace {

std::string chipName(int32_t chip) { return "chip " + std::to_string(chip); }

Error outside(const std::string &what, int64_t found, int64_t end) {
  return Error{what + ": expected 0 to " + std::to_string(end - 1) +
               ", found " + std::to_string(found)};
}

/// The ports of all chips of the machine, from outside and from inside: the
/// cable behind a port, and the chip and link number before it.
class Ports {
public:
  explicit Ports(const Machine &machine)
      : machine(machine), cables(machine),
        numbers(size_t(machine.system.chips) * size_t(machine.link.ports)) {}

  Status add(const SystemProgram &program, uint32_t chip);

  /// Who is at the other end of the cable behind a port; `in`: of those who
  /// receive there, else of those who send.
  LinkEnd otherEnd(int32_t chip, int32_t port, bool in) const;

private:
  /// Who uses a port; chip numbers from 1, 0: nobody.
  struct User {
    uint32_t chip = 0;
    LinkNumber number = kHostLink;
  };
  struct Users {
    User out, in;
  };
  size_t index(int32_t chip, int32_t port) const {
    return size_t(chip) * size_t(machine.link.ports) + size_t(port);
  }
  Status use(int32_t port, User user, int32_t chip, bool in);

  const Machine &machine;
  PortMap cables;
  std::vector<Users> numbers; ///< by index()
};

Status Ports::use(int32_t port, User user, int32_t chip, bool in) {
  if (port < 0) {
    return Success{};
  }
  std::string link = chipName(chip) + ": link " + std::to_string(user.number);
  if (port >= machine.link.ports) {
    return outside(link + ": port", port, machine.link.ports);
  }
  Users &both = numbers[index(chip, port)];
  User &there = in ? both.in : both.out;
  if (there.chip != 0) {
    return Error{link + (in ? " in" : " out") + ": port " +
                 std::to_string(port) + " is behind link " +
                 std::to_string(there.number) + " already"};
  }
  there = user;
  return Success{};
}

Status Ports::add(const SystemProgram &program, uint32_t chip) {
  const ChipProgram &c = program.chips[chip];
  if (c.chip < 0 || c.chip >= machine.system.chips) {
    return outside("system program: chip", c.chip, machine.system.chips);
  }
  if (chip > 0 && c.chip <= program.chips[chip - 1].chip) {
    return Error{"system program: " + chipName(c.chip) + " after " +
                 chipName(program.chips[chip - 1].chip) +
                 ", expected ascending chips"};
  }
  if (c.part >= program.parts.size()) {
    return outside(chipName(c.chip) + ": part", c.part,
                   int64_t(program.parts.size()));
  }
  if (c.start < 0 || c.start > kMaxTick) {
    return outside(chipName(c.chip) + ": start", c.start, kMaxTick + 1);
  }
  if (int64_t(c.links.size()) > machine.link.ports) {
    return outside(chipName(c.chip) + ": links", int64_t(c.links.size()),
                   int64_t(machine.link.ports) + 1);
  }
  for (size_t k = 0; k < c.links.size(); ++k) {
    User user{chip + 1, LinkNumber(k + 1)};
    if (Status ok = use(c.links[k].out, user, c.chip, false); !ok) {
      return ok;
    }
    if (Status ok = use(c.links[k].in, user, c.chip, true); !ok) {
      return ok;
    }
  }
  return Success{};
}

LinkEnd Ports::otherEnd(int32_t chip, int32_t port, bool in) const {
  LinkEnd end;
  if (port < 0) {
    end.missing = "no port is behind this direction of the link";
    return end;
  }
  std::string here = "port " + std::to_string(port) + " of " + chipName(chip);
  auto [otherChip, otherPort] = cables.otherEnd(chip, port);
  if (otherChip < 0) {
    end.missing = "no cable is at " + here;
    return end;
  }
  const Users &users = numbers[index(otherChip, otherPort)];
  const User &user = in ? users.in : users.out;
  if (user.chip == 0) {
    end.missing = "the cable at " + here + " leads to port " +
                  std::to_string(otherPort) + " of " + chipName(otherChip) +
                  ", where nobody " + (in ? "receives" : "sends");
    return end;
  }
  end.chip = user.chip - 1;
  end.number = user.number;
  return end;
}

} // namespace

Expected<Wiring> Wiring::of(const SystemProgram &program,
                            const Machine &machine) {
  Ports ports(machine);
  for (uint32_t chip = 0; chip < program.chips.size(); ++chip) {
    if (Status ok = ports.add(program, chip); !ok) {
      return ok.error();
    }
  }
  Wiring wiring;
  wiring.links.resize(program.chips.size());
  for (size_t chip = 0; chip < program.chips.size(); ++chip) {
    const ChipProgram &c = program.chips[chip];
    for (const LinkPorts &link : c.links) {
      wiring.links[chip].push_back({ports.otherEnd(c.chip, link.in, false),
                                    ports.otherEnd(c.chip, link.out, true)});
    }
  }
  return wiring;
}

} // namespace orrery::sim
