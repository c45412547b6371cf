#include "tests/simulator/check/LinkOracle.h"
#include "tests/simulator/check/SystemMutationMakers.h"

#include <algorithm>

namespace orrery::test {

namespace {

ChipProgram &anyChip(BuiltSystem &s, Random &r) {
  return s.program
      .chips[size_t(r.between(0, int64_t(s.program.chips.size()) - 1))];
}
/// The port behind one end of a link that something goes over.
int32_t &anyPort(BuiltSystem &s, Random &r, bool in) {
  WireRun wire = r.of(wireRuns(s.program, s.machine));
  return in ? s.program.chips[wire.to].links[wire.toLink - 1].in
            : s.program.chips[wire.from].links[wire.fromLink - 1].out;
}
int64_t chipsOf(const BuiltSystem &s, uint32_t stage) {
  return std::ranges::count_if(
      s.program.chips, [&](const ChipProgram &c) { return c.stage == stage; });
}

} // namespace

/// The builder leaves the last port of every chip free.
bool noCable(BuiltSystem &s, Random &r) {
  anyPort(s, r, r.chance(50)) = s.machine.link.ports - 1;
  return true;
}
bool cutCable(BuiltSystem &s, Random &r) {
  WireRun wire = r.of(wireRuns(s.program, s.machine));
  const ChipProgram &from = s.program.chips[wire.from];
  int32_t port = from.links[wire.fromLink - 1].out;
  return std::erase_if(s.machine.system.links, [&](const Link &l) {
           return (l.chip == from.chip && l.port == port) ||
                  (l.otherChip == from.chip && l.otherPort == port);
         }) == 1;
}
bool portNotThere(BuiltSystem &s, Random &r) {
  anyPort(s, r, r.chance(50)) =
      r.chance(50) ? s.machine.link.ports : int32_t(r.between(-9, -2));
  return true;
}
bool portTwice(BuiltSystem &s, Random &r) {
  ChipProgram &c = anyChip(s, r);
  LinkPorts &a = r.chance(50) ? c.links.front() : c.links.back();
  LinkPorts &b = c.links[size_t(r.between(0, int64_t(c.links.size()) - 1))];
  bool in = r.chance(50);
  (in ? a.in : a.out) = in ? b.in : b.out;
  return &a != &b && (in ? b.in : b.out) >= 0;
}
bool unbound(BuiltSystem &s, Random &r) {
  anyPort(s, r, r.chance(50)) = -1;
  return true;
}
/// A cable at which no link of this chip was: nobody is at its other end.
bool wrongCable(BuiltSystem &s, Random &r) {
  WireRun wire = r.of(wireRuns(s.program, s.machine));
  ChipProgram &from = s.program.chips[wire.from];
  const Link &l = r.of(s.machine.system.links);
  int32_t port = l.chip == from.chip        ? l.port
                 : l.otherChip == from.chip ? l.otherPort
                                            : -1;
  bool used = std::ranges::any_of(
      from.links, [&](const LinkPorts &p) { return p.out == port; });
  from.links[wire.fromLink - 1].out = port;
  return port >= 0 && !used;
}
/// They lead to two other chips.
bool swapLinks(BuiltSystem &s, Random &r) {
  ChipProgram &c = anyChip(s, r);
  LinkPorts &a = c.links.front(), &b = c.links.back();
  bool in = r.chance(50);
  bool differ = in ? a.in >= 0 && b.in >= 0 && a.in != b.in
                   : a.out >= 0 && b.out >= 0 && a.out != b.out;
  in ? std::swap(a.in, b.in) : std::swap(a.out, b.out);
  auto wires = wireRuns(s.program, s.machine);
  return differ && std::ranges::any_of(wires, [&](const WireRun &w) {
           return &s.program.chips[in ? w.to : w.from] == &c;
         });
}

/// The others of its stage start at the old tick; the end is as predicted.
bool shiftChip(BuiltSystem &s, Random &r) {
  ChipProgram &c = anyChip(s, r);
  c.start += r.chance(50) ? 1 : -1;
  restateSystem(s);
  return c.start >= 0 && chipsOf(s, c.stage) > 1;
}
bool rankTwice(BuiltSystem &s, Random &r) {
  ChipProgram &c = anyChip(s, r);
  c.rank = uint32_t(r.between(0, chipsOf(s, c.stage) - 1));
  return true;
}
/// Then a link to the next rank (of more than two) or to the same rank of the
/// next stage leads to another.
bool swapRanks(BuiltSystem &s, Random &r) {
  ChipProgram &a = anyChip(s, r), &b = anyChip(s, r);
  std::swap(a.rank, b.rank);
  auto tells = [&](const WireRun &w) {
    const ChipProgram &from = s.program.chips[w.from];
    const ChipProgram &to = s.program.chips[w.to];
    return from.stage != to.stage ? from.stage == a.stage || to.stage == a.stage
                                  : from.stage == a.stage && w.fromLink == 1 &&
                                        chipsOf(s, a.stage) > 2;
  };
  return &a != &b && a.stage == b.stage &&
         std::ranges::any_of(wireRuns(s.program, s.machine), tells);
}
bool stageGap(BuiltSystem &s, Random &r) {
  uint32_t last = 0;
  for (const ChipProgram &c : s.program.chips) {
    last = std::max(last, c.stage);
  }
  auto by = uint32_t(r.between(1, 3));
  for (ChipProgram &c : s.program.chips) {
    c.stage += c.stage == last ? by : 0;
  }
  return true;
}
/// No two parts of the builder use the links between stages alike.
bool otherPart(BuiltSystem &s, Random &r) {
  anyChip(s, r).part =
      uint32_t(r.between(0, int64_t(s.program.parts.size()) - 1));
  return true;
}
bool chipTwice(BuiltSystem &s, Random &r) {
  auto i = size_t(r.between(0, int64_t(s.program.chips.size()) - 2));
  s.program.chips[i].chip = s.program.chips[i + 1].chip;
  return true;
}
bool chipNotThere(BuiltSystem &s, Random &r) {
  s.program.chips.back().chip =
      s.machine.system.chips + int32_t(r.between(0, 3));
  return true;
}
bool wrongEnd(BuiltSystem &s, Random &r) {
  s.program.predictedTicks += r.chance(50) ? 1 : -1;
  return true;
}
bool otherStep(BuiltSystem &s, Random &) {
  ++s.program.parts.back().modelHash;
  return s.program.parts.size() > 1;
}

} // namespace orrery::test
