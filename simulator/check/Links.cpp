// Rules match, lost, unsent, arrival and full: what one end of a link sends is
// what the other end receives, in time and with room.
//
// Chips that run the same parts, as long one after the other, over the same
// link numbers, do the same to each other: they are looked at once.
#include "simulator/check/SystemExamination.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace orrery::check {

namespace {

std::string burstOf(const LinkBurst &b) {
  return std::to_string(b.shape.count()) + " vectors of " +
         std::to_string(b.width) + " streams";
}

class LinkCheck {
public:
  explicit LinkCheck(SystemExamination &exam) : exam(exam) {}

  void run() {
    for (const Wire &w : exam.wires) {
      if (exam.isFormed(w.from.chip) && exam.isFormed(w.to.chip)) {
        ++behaviourOf(w).wires;
        ++exam.report.links;
      }
    }
    exam.report.linkBehaviours = behaviours.size();
    for (const Behaviour &b : behaviours) {
      check(b);
    }
  }

private:
  /// What happens on the wire `first` and on others alike.
  struct Behaviour {
    Wire first;
    size_t wires = 0;
  };
  Behaviour &behaviourOf(const Wire &w);
  void check(const Behaviour &behaviour);
  size_t matched();
  bool inTime(size_t bursts);
  void checkRoom(size_t bursts);

  /// What is wrong with burst `b` of the sends or receives at `end`.
  void fail(Rule rule, const LinkEnd &end, const LinkBurst &b, uint64_t vector,
            const std::string &found) {
    std::string also =
        alike == 0 ? "" : "; so do " + std::to_string(alike) + " more links";
    exam.fail(rule, end.chip, b.instruction, b.tick + b.shape.at(vector),
              nameOf(exam, wire.from) + " to " + nameOf(exam, wire.to) + ": " +
                  found + also);
  }
  std::string at(const LinkEnd &end, const LinkBurst &b) const {
    return describe(exam.system.parts[exam.chip(end).part], b.instruction) +
           " at tick " + std::to_string(b.tick);
  }

  SystemExamination &exam;
  std::vector<Behaviour> behaviours;
  std::map<std::tuple<uint32_t, LinkNumber, uint32_t, LinkNumber, Tick>, size_t>
      known;
  // The behaviour being checked.
  Wire wire = {};
  size_t alike = 0; ///< wires beside it
  Tick shift = 0;   ///< from the receiver's ticks to the sender's
  const LinkTraffic *from = nullptr, *to = nullptr;
};

LinkCheck::Behaviour &LinkCheck::behaviourOf(const Wire &w) {
  const ChipProgram &a = exam.chip(w.from), &b = exam.chip(w.to);
  auto [at, isNew] = known.try_emplace(
      {a.part, w.from.number, b.part, w.to.number, b.start - a.start},
      behaviours.size());
  if (isNew) {
    behaviours.push_back({w});
  }
  return behaviours[at->second];
}

void LinkCheck::check(const Behaviour &behaviour) {
  wire = behaviour.first;
  alike = behaviour.wires - 1;
  shift = exam.chip(wire.to).start - exam.chip(wire.from).start;
  from = &exam.trafficOf(wire.from);
  to = &exam.trafficOf(wire.to);
  size_t bursts = matched();
  if (inTime(bursts)) {
    checkRoom(bursts);
  }
}

/// How many bursts are the same at both ends, up to the first that is not.
size_t LinkCheck::matched() {
  size_t common = std::min(from->sends.size(), to->receives.size());
  for (size_t b = 0; b < common; ++b) {
    const LinkBurst &send = from->sends[b], &receive = to->receives[b];
    if (send.width != receive.width ||
        send.shape.count() != receive.shape.count()) {
      fail(Rule::Match, wire.to, receive, 0,
           "burst " + std::to_string(b) + " is received as " +
               burstOf(receive) + " and sent as " + burstOf(send) + " by " +
               at(wire.from, send));
      return b;
    }
  }
  if (from->sends.size() > common) {
    fail(Rule::Lost, wire.from, from->sends[common], 0,
         "burst " + std::to_string(common) + " is sent; only " +
             std::to_string(common) + " are received");
  }
  if (to->receives.size() > common) {
    fail(Rule::Unsent, wire.to, to->receives[common], 0,
         "burst " + std::to_string(common) + " is received; only " +
             std::to_string(common) + " are sent");
  }
  return common;
}

bool LinkCheck::inTime(size_t bursts) {
  Crossing crossing(exam.machine.link);
  for (size_t b = 0; b < bursts; ++b) {
    const LinkBurst &send = from->sends[b], &receive = to->receives[b];
    if (auto late = crossing.carry(send, receive, shift)) {
      fail(Rule::Arrival, wire.to, receive, late->vector,
           "vector " + std::to_string(late->vector) + " of burst " +
               std::to_string(b) + " arrives only at tick " +
               std::to_string(late->arrived - shift) + "; " +
               at(wire.from, send) + " of chip " +
               std::to_string(exam.chip(wire.from).chip) + " sent it");
      return false;
    }
    exam.report.linkVectorsProven += send.streamVectors() * (alike + 1);
  }
  return true;
}

void LinkCheck::checkRoom(size_t bursts) {
  auto room = uint64_t(exam.machine.link.bufferVectors);
  if (auto over = firstOverfull(*from, *to, bursts, shift, room)) {
    fail(Rule::Full, wire.from, from->sends[over->burst], over->vector,
         "with vector " + std::to_string(over->vector) + " of burst " +
             std::to_string(over->burst) + " the receiver holds " +
             std::to_string(over->held) + " stream vectors; it has room for " +
             std::to_string(room));
  }
}

} // namespace

void checkLinks(SystemExamination &exam) { LinkCheck(exam).run(); }

} // namespace orrery::check
