#include "tests/simulator/check/Board.h"
#include "tests/simulator/check/LinkOracle.h"
#include "tests/simulator/check/SystemMutationMakers.h"

#include <algorithm>
#include <set>

namespace orrery::test {

namespace {

Program &partOf(BuiltSystem &s, size_t chip) {
  return s.program.parts[s.program.chips[chip].part];
}
WireRun anyWire(BuiltSystem &s, Random &r) {
  return r.of(wireRuns(s.program, s.machine));
}

/// All that was made together with instruction `index`: alone it would miss
/// the streams of the others.
bool shiftGang(Program &p, const Machine &m, size_t index, Tick by) {
  uint32_t gang = p.instructions[index].location;
  for (Instruction &i : p.instructions) {
    i.tick += i.location == gang ? by : 0;
    if (earliestTick(i, m) < 0) {
      return false;
    }
  }
  return true;
}
/// Whether burst `index` still lies between those before and after it.
bool inOrder(const Program &p, const std::vector<size_t> &bursts) {
  for (size_t k = 1; k < bursts.size(); ++k) {
    if (p.instructions[bursts[k - 1]].tick >= p.instructions[bursts[k]].tick) {
      return false;
    }
  }
  return true;
}

uint8_t &widthOf(Operation &o) {
  auto *send = std::get_if<SendOp>(&o);
  return send ? send->width : std::get<ReceiveOp>(o).width;
}
BurstShape &shapeOf(Operation &o) {
  auto *send = std::get_if<SendOp>(&o);
  return send ? send->shape : std::get<ReceiveOp>(o).shape;
}

/// An end of one burst of a wire.
struct BurstEnd {
  Program *part;
  size_t index;
  Operation &operation() const { return part->instructions[index].operation; }
};
BurstEnd anyEnd(BuiltSystem &s, Random &r, bool receive) {
  WireRun wire = anyWire(s, r);
  const CrossingVector &v = r.of(wire.vectors);
  return receive ? BurstEnd{&partOf(s, wire.to), v.receive}
                 : BurstEnd{&partOf(s, wire.from), v.send};
}

} // namespace

/// A vector leaves so late that it cannot be there when it is received, even
/// over an idle link. In order, so that it stays the burst it was.
bool sendLater(BuiltSystem &s, Random &r) {
  WireRun wire = anyWire(s, r);
  const CrossingVector &v = r.of(wire.vectors);
  const LinkParameters &link = s.machine.link;
  Program &part = partOf(s, wire.from);
  Tick least = link.latency + v.width * link.vectorTicks;
  Tick by = v.received - (v.sent + least) + r.between(1, 3);
  return shiftGang(part, s.machine, v.send, by) &&
         inOrder(part, sendsOf(part, wire.fromLink));
}

bool receiveEarlier(BuiltSystem &s, Random &r) {
  WireRun wire = anyWire(s, r);
  const CrossingVector &v = r.of(wire.vectors);
  Program &part = partOf(s, wire.to);
  Tick by = v.arrived - v.received - r.between(1, 3);
  return shiftGang(part, s.machine, v.receive, by) &&
         inOrder(part, receivesOf(part, wire.toLink));
}

/// At one end only.
bool changeWidth(BuiltSystem &s, Random &r) {
  uint8_t &width = widthOf(anyEnd(s, r, r.chance(50)).operation());
  width = uint8_t(width + (r.chance(50) ? 1 : -1));
  return width > 0;
}
bool changeCount(BuiltSystem &s, Random &r) {
  BurstShape &shape = shapeOf(anyEnd(s, r, r.chance(50)).operation());
  shape.length += r.chance(50) ? 1 : -1;
  if (shape.runs > 1) {
    shape.period += shape.stride;
  }
  return shape.length > 0;
}

/// With the reads that feed it: on its own chip all is well.
bool dropSend(BuiltSystem &s, Random &r) {
  BurstEnd end = anyEnd(s, r, false);
  uint32_t gang = end.part->instructions[end.index].location;
  std::erase_if(end.part->instructions,
                [&](const Instruction &i) { return i.location == gang; });
  return true;
}
bool dropReceive(BuiltSystem &s, Random &r) {
  BurstEnd end = anyEnd(s, r, true);
  uint32_t gang = end.part->instructions[end.index].location;
  std::erase_if(end.part->instructions,
                [&](const Instruction &i) { return i.location == gang; });
  return true;
}

/// Two that differ in width or count change places.
bool swapBursts(BuiltSystem &s, Random &r, bool receives) {
  WireRun wire = anyWire(s, r);
  Program &part = partOf(s, receives ? wire.to : wire.from);
  auto bursts =
      receives ? receivesOf(part, wire.toLink) : sendsOf(part, wire.fromLink);
  Operation &a = part.instructions[r.of(bursts)].operation;
  Operation &b = part.instructions[r.of(bursts)].operation;
  bool differ =
      widthOf(a) != widthOf(b) || shapeOf(a).count() != shapeOf(b).count();
  std::swap(a, b);
  return differ;
}

/// Earlier than what the stage before allows; the end is as predicted.
bool startStageEarlier(BuiltSystem &s, Random &r) {
  WireRun wire = anyWire(s, r);
  uint32_t stage = s.program.chips[wire.to].stage;
  if (s.program.chips[wire.from].stage == stage) {
    return false;
  }
  Tick by = slackOf(wire) + r.between(1, 3);
  for (ChipProgram &c : s.program.chips) {
    c.start -= c.stage == stage ? by : 0;
  }
  restateSystem(s);
  return s.program.chips[wire.to].start >= 0;
}

bool slowLink(BuiltSystem &s, Random &r) {
  s.machine.link.latency += slackOf(anyWire(s, r)) + r.between(1, 3);
  return true;
}
/// Every vector takes as much longer as the least timely has to spare.
bool slowCrossing(BuiltSystem &s, Random &r) {
  s.machine.link.vectorTicks += slackOf(anyWire(s, r)) + 1;
  return true;
}

/// One less than some receiver needs.
bool smallBuffer(BuiltSystem &s, Random &r) {
  s.machine.link.bufferVectors = int32_t(peakOf(anyWire(s, r))) - 1;
  return true;
}

} // namespace orrery::test
