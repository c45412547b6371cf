// Rules binding, cable, lost and unsent, of whole links: every link that a
// part uses leads over a cable to a link of another chip.
#include "simulator/check/SystemExamination.h"

#include <algorithm>

namespace orrery::check {

namespace {

enum class Way : uint8_t { Out, In };

/// The link numbers behind the ports of all chips, one way; 0: none.
using Bindings = std::vector<LinkNumber>;

class CablingCheck {
public:
  explicit CablingCheck(SystemExamination &exam)
      : exam(exam), chips(exam.system.chips), cables(exam.machine),
        ports(exam.machine.link.ports), indexOf(exam.machine.system.chips, -1),
        outAt(chips.size() * ports), inAt(chips.size() * ports) {}

  void run() {
    for (uint32_t c = 0; c < chips.size(); ++c) {
      indexOf[chips[c].chip] = int32_t(c);
      for (int k = 1; k <= ports; ++k) {
        bind({c, LinkNumber(k)}, Way::Out);
        bind({c, LinkNumber(k)}, Way::In);
      }
    }
    for (uint32_t c = 0; c < chips.size(); ++c) {
      for (int p = 0; p < ports; ++p) {
        connectOut(c, p);
        connectIn(c, p);
      }
    }
  }

private:
  Bindings &bound(Way way) { return way == Way::Out ? outAt : inAt; }
  const std::vector<LinkBurst> &bursts(const LinkEnd &end, Way way) const {
    const LinkTraffic &t = exam.trafficOf(end);
    return way == Way::Out ? t.sends : t.receives;
  }
  bool uses(const LinkEnd &end, Way way) const {
    return exam.isFormed(end.chip) && !bursts(end, way).empty();
  }
  int32_t portOf(const LinkEnd &end, Way way) const {
    const std::vector<LinkPorts> &links = exam.chip(end).links;
    if (end.number > links.size()) {
      return -1;
    }
    const LinkPorts &link = links[end.number - 1];
    return way == Way::Out ? link.out : link.in;
  }
  void fail(Rule rule, const LinkEnd &end, Way way, const std::string &found) {
    exam.fail(rule, exam.chip(end).chip,
              "link " + std::to_string(end.number) +
                  (way == Way::Out ? " out " : " in ") + found);
  }
  void failFirst(Rule rule, const LinkEnd &end, Way way,
                 const std::string &found) {
    const LinkBurst &first = bursts(end, way).front();
    exam.fail(rule, end.chip, first.instruction, first.tick, found);
  }

  void bind(const LinkEnd &end, Way way);
  std::optional<LinkEnd> otherEnd(uint32_t chip, int32_t port, Way theirs);
  std::string nobody(uint32_t chip, int32_t port, Way theirs) const;
  void connectOut(uint32_t chip, int32_t port);
  void connectIn(uint32_t chip, int32_t port);

  SystemExamination &exam;
  const std::vector<ChipProgram> &chips;
  PortMap cables;
  int32_t ports;
  std::vector<int32_t> indexOf; ///< by number in the system; -1: idle
  Bindings outAt, inAt;         ///< [chip * ports + port]
};

void CablingCheck::bind(const LinkEnd &end, Way way) {
  int32_t port = portOf(end, way);
  if (port < 0 || port >= ports) {
    if (port != -1) {
      fail(Rule::Binding, end, way,
           "names port " + std::to_string(port) + "; a chip has " +
               std::to_string(ports));
    } else if (uses(end, way)) {
      fail(Rule::Binding, end, way, "is used by its part and has no port");
    }
    return;
  }
  LinkNumber &slot = bound(way)[size_t(end.chip) * ports + port];
  if (slot != 0) {
    fail(Rule::Binding, end, way,
         "names port " + std::to_string(port) + ", which link " +
             std::to_string(slot) + " has");
    return;
  }
  if (cables.otherEnd(exam.chip(end).chip, port).first < 0) {
    fail(Rule::Cable, end, way,
         "leads over port " + std::to_string(port) +
             ", where the machine has no cable");
    return;
  }
  slot = end.number;
}

std::optional<LinkEnd> CablingCheck::otherEnd(uint32_t chip, int32_t port,
                                              Way theirs) {
  auto [otherChip, otherPort] = cables.otherEnd(chips[chip].chip, port);
  int32_t other = indexOf[otherChip];
  if (other < 0) {
    return std::nullopt;
  }
  LinkNumber number = bound(theirs)[size_t(other) * ports + otherPort];
  return number == 0 ? std::nullopt
                     : std::optional(LinkEnd{uint32_t(other), number});
}

/// What is instead of another end.
std::string CablingCheck::nobody(uint32_t chip, int32_t port,
                                 Way theirs) const {
  auto [otherChip, otherPort] = cables.otherEnd(chips[chip].chip, port);
  std::string other = "chip " + std::to_string(otherChip);
  return indexOf[otherChip] < 0
             ? other + " is idle"
             : other + " has no link " + (theirs == Way::In ? "in" : "out") +
                   " at its port " + std::to_string(otherPort);
}

void CablingCheck::connectOut(uint32_t chip, int32_t port) {
  LinkEnd from{chip, outAt[size_t(chip) * ports + port]};
  if (from.number == 0) {
    return;
  }
  std::optional<LinkEnd> to = otherEnd(chip, port, Way::In);
  if (!to) {
    if (uses(from, Way::Out)) {
      failFirst(Rule::Lost, from, Way::Out,
                "nobody receives it: " + nobody(chip, port, Way::In));
    }
  } else if (uses(from, Way::Out) || uses(*to, Way::In)) {
    exam.wires.push_back({from, *to});
  }
}

/// The ends that connectOut() does not meet from the other side.
void CablingCheck::connectIn(uint32_t chip, int32_t port) {
  LinkEnd to{chip, inAt[size_t(chip) * ports + port]};
  if (to.number != 0 && uses(to, Way::In) && !otherEnd(chip, port, Way::Out)) {
    failFirst(Rule::Unsent, to, Way::In,
              "nobody sends it: " + nobody(chip, port, Way::Out));
  }
}

} // namespace

void checkCabling(SystemExamination &exam) { CablingCheck(exam).run(); }

} // namespace orrery::check
