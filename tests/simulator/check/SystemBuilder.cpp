#include "tests/simulator/check/SystemBuilder.h"

#include "tests/simulator/check/Builder.h"
#include "tests/simulator/check/LinkOracle.h"

#include <algorithm>
#include <map>
#include <set>

namespace orrery::test {

namespace {

class SystemBuilder {
public:
  explicit SystemBuilder(uint64_t seed)
      : r(seed), seed(seed), stages(int(r.between(1, 4))),
        ranks(int(r.between(stages == 1 ? 2 : 1, 4))), m(randomMachine(r)) {}

  BuiltSystem build() {
    ring = r.chance(30);
    drawLinks();
    placeChips();
    drawCables();
    buildParts();
    setStarts();
    fitBuffer();
    BuiltSystem built{m, system};
    restateSystem(built);
    return built;
  }

private:
  /// Greatest offset with a direct link of its own.
  int offsets() const { return ring ? std::min(1, ranks - 1) : ranks - 1; }
  uint32_t partOf(int stage) const {
    return stage == 0 ? 0 : stage + 1 < stages ? 2 : 1;
  }
  size_t chipOf(int stage, int rank) const { return chipAt.at({stage, rank}); }

  void drawLinks() {
    m.link.ports = 40;
    m.link.latency = r.between(1, 60);
    m.link.vectorTicks = r.between(1, 6);
    m.link.bufferVectors = 1 << 20;
  }
  void placeChips();
  void drawCables();
  void cable(size_t a, size_t b, int fromLink, int toLink);
  int32_t freePort(int32_t chip) {
    int32_t port = int32_t(r.between(0, m.link.ports - 2));
    while (!taken.insert({chip, port}).second) {
      port = (port + 1) % (m.link.ports - 1);
    }
    return port;
  }
  void buildParts();
  void setStarts();
  void fitBuffer();

  Random r;
  uint64_t seed;
  int stages, ranks;
  bool ring = false;
  Machine m;
  SystemProgram system;
  std::map<std::pair<int, int>, size_t> chipAt; ///< by (stage, rank)
  std::set<std::pair<int32_t, int32_t>> taken;  ///< (chip, port)
};

/// Anywhere in a system with a few chips more, but never one alone.
void SystemBuilder::placeChips() {
  int count = stages * ranks;
  m.system.chips = int32_t(count + r.between(0, 3));
  std::vector<std::pair<int, int>> places;
  for (int i = 0; i < m.system.chips; ++i) {
    places.push_back(i < count ? std::pair(i / ranks, i % ranks)
                               : std::pair(-1, -1));
  }
  for (size_t i = places.size(); i > 1; --i) {
    std::swap(places[i - 1], places[size_t(r.between(0, int64_t(i) - 1))]);
  }
  for (size_t chip = 0; chip < places.size(); ++chip) {
    auto [stage, rank] = places[chip];
    if (stage >= 0) {
      chipAt[{stage, rank}] = system.chips.size();
      system.chips.push_back({int32_t(chip), partOf(stage), uint32_t(stage),
                              uint32_t(rank), 0,
                              std::vector<LinkPorts>(size_t(ranks))});
    }
  }
}

/// Binds a link of `a` to one of `b`, over the cable that goes the other way
/// already, now and then, else over a new one.
void SystemBuilder::cable(size_t a, size_t b, int fromLink, int toLink) {
  ChipProgram &from = system.chips[a], &to = system.chips[b];
  int32_t &out = from.links[fromLink - 1].out, &in = to.links[toLink - 1].in;
  for (const LinkPorts &back : to.links) {
    for (const LinkPorts &forth : from.links) {
      for (const Link &l : m.system.links) {
        bool joins = (l.chip == from.chip && l.port == forth.in &&
                      l.otherChip == to.chip && l.otherPort == back.out) ||
                     (l.chip == to.chip && l.port == back.out &&
                      l.otherChip == from.chip && l.otherPort == forth.in);
        bool free = std::ranges::none_of(from.links,
                                         [&](const LinkPorts &p) {
                                           return p.out == forth.in;
                                         }) &&
                    std::ranges::none_of(to.links, [&](const LinkPorts &p) {
                      return p.in == back.out;
                    });
        if (joins && free && r.chance(70)) {
          out = forth.in;
          in = back.out;
          return;
        }
      }
    }
  }
  out = freePort(from.chip);
  in = freePort(to.chip);
  bool ordered = from.chip < to.chip;
  m.system.links.push_back(ordered ? Link{from.chip, out, to.chip, in}
                                   : Link{to.chip, in, from.chip, out});
}

void SystemBuilder::drawCables() {
  for (int s = 0; s < stages; ++s) {
    for (int rank = 0; rank < ranks; ++rank) {
      for (int j = 1; j <= offsets(); ++j) {
        cable(chipOf(s, rank), chipOf(s, (rank + j) % ranks), j, j);
      }
      if (s + 1 < stages) {
        cable(chipOf(s, rank), chipOf(s + 1, rank), ranks, ranks);
      }
    }
  }
  // Some that no program uses.
  for (int more = int(r.between(0, 6)); more > 0; --more) {
    auto a = int32_t(r.between(0, m.system.chips - 2));
    auto b = int32_t(r.between(a + 1, m.system.chips - 1));
    int32_t port = freePort(a);
    m.system.links.push_back({a, port, b, freePort(b)});
  }
  std::ranges::sort(m.system.links, {}, [](const Link &l) {
    return std::tuple(l.chip, l.port, l.otherChip, l.otherPort);
  });
}

void SystemBuilder::buildParts() {
  Program step = {};
  step.modelName = "random " + std::to_string(seed);
  step.modelHash = seed;
  drawStep(step, m, r);
  std::vector<Message> messages;
  for (int i = int(r.between(1, 4)); stages > 1 && i > 0; --i) {
    messages.push_back(anyMessage(r));
  }
  // The first, the last and the ones between.
  int kinds = std::min(stages, 3);
  for (int part = 0; part < kinds; ++part) {
    PartLinks links;
    links.fromHost = part == 0;
    links.logits = part == 1 || stages == 1;
    links.exchanges = offsets();
    links.next = stages > 1 ? ranks : 0;
    links.fromBefore = part == 0 ? std::vector<Message>() : messages;
    links.toNext = part == 1 ? std::vector<Message>() : messages;
    Builder builder(seed * 7 + uint64_t(part), m, step, links);
    system.parts.push_back(builder.build().program);
  }
}

/// Each stage as early as what it receives from the one before allows, or a
/// little later.
void SystemBuilder::setStarts() {
  Tick start = r.chance(70) ? 0 : r.between(1, 30);
  for (int s = 0; s < stages; ++s) {
    auto startAll = [&](Tick tick) {
      for (ChipProgram &c : system.chips) {
        c.start = int(c.stage) == s ? tick : c.start;
      }
    };
    Tick tried = start;
    startAll(tried);
    for (const WireRun &wire : wireRuns(system, m)) {
      if (int(system.chips[wire.from].stage) + 1 == s &&
          int(system.chips[wire.to].stage) == s) {
        start = std::max(start, tried - slackOf(wire));
      }
    }
    startAll(start);
    start = r.chance(70) ? 0 : start;
  }
}

/// Just enough room, or a little more.
void SystemBuilder::fitBuffer() {
  int64_t room = 8;
  for (const WireRun &wire : wireRuns(system, m)) {
    room = std::max(room, peakOf(wire));
    for (const CrossingVector &v : wire.vectors) {
      const Program &part = system.parts[system.chips[wire.from].part];
      const auto &op = std::get<SendOp>(part.instructions[v.send].operation);
      room = std::max(room, int64_t(op.shape.count()) * op.width);
    }
  }
  m.link.bufferVectors = int32_t(room + (r.chance(60) ? 0 : r.between(1, 9)));
}

} // namespace

void restateSystem(BuiltSystem &system) {
  for (Program &part : system.program.parts) {
    part.machineJson = formatMachine(system.machine);
    part.predictedTicks = endTickOf(part, system.machine);
  }
  Tick end = 0;
  for (const ChipProgram &c : system.program.chips) {
    end = std::max(end, c.start + system.program.parts[c.part].predictedTicks);
  }
  system.program.predictedTicks = end;
}

BuiltSystem buildSystem(uint64_t seed) { return SystemBuilder(seed).build(); }

} // namespace orrery::test
