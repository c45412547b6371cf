// Systems of a few chips, one rule at a time: legal at cycle c, illegal at
// c - 1.
#include "simulator/check/SystemCheck.h"
#include "tests/simulator/check/TinyProgram.h"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

namespace orrery::check {
namespace {

using Rules = std::set<std::string>;
using test::TinyProgram;

constexpr Tick kForever = 100000;
/// Of the first send; far from tick 0, where the reads that feed it are.
constexpr Tick kSend = 200;

/// A part that sends and receives vectors of two streams; the n-th transfer in
/// either direction has places of its own in SRAM.
class TinyPart {
public:
  TinyPart() {
    t.region(RegionKind::Table, 0, 2, 0, 0, 4096);
    t.region(RegionKind::Temporary, 40, 2, 0, 0, 4096, 0, kForever);
  }
  void send(int link, Tick tick, BurstShape shape, int width = 2) {
    Position port = t.g.ofHost();
    t.feed(0, width, 0, 0, 4, port, tick, shape);
    t.add(tick, SendOp{4, shape, LinkNumber(link), uint8_t(width)});
  }
  void receive(int link, Tick tick, BurstShape shape, int width = 2) {
    Position from = t.g.ofHost(), to = t.g.ofSlice(40);
    t.add(tick, ReceiveOp{4, to, shape, LinkNumber(link), uint8_t(width)});
    t.store(40, width, 0, next, {Direction::West, 4}, tick + from - to, shape);
    next += int(shape.count());
  }
  Program program() {
    test::sortByTick(t.p.instructions);
    t.p.predictedTicks = test::endTickOf(t.p, t.machine);
    return t.p;
  }

  TinyProgram t;

private:
  int next = 0; ///< address
};

class TinySystem {
public:
  explicit TinySystem(int chips) : machine(*loadMachine("lpu-small")) {
    machine.system.chips = chips;
  }
  /// A cable from port `port` of chip a to port `port + 1` of chip b.
  void cable(int a, int b, int port) {
    machine.system.links.push_back(a < b ? Link{a, port, b, port + 1}
                                         : Link{b, port + 1, a, port});
  }
  void part(TinyPart &part) { p.parts.push_back(part.program()); }
  void chip(uint32_t part, uint32_t stage, uint32_t rank, Tick start,
            std::vector<LinkPorts> links) {
    p.chips.push_back(
        {int32_t(p.chips.size()), part, stage, rank, start, std::move(links)});
  }
  SystemReport check() {
    p.predictedTicks = 0;
    for (const ChipProgram &c : p.chips) {
      p.predictedTicks =
          std::max(p.predictedTicks, c.start + p.parts[c.part].predictedTicks);
    }
    return checkSystem(p, machine);
  }
  Rules broken() {
    Rules rules;
    for (const SystemViolation &v : check().violations) {
      rules.insert(v.rule);
    }
    return rules;
  }
  Tick latency() const { return machine.link.latency; }
  Tick crossing(int width = 2) const {
    return machine.link.vectorTicks * width;
  }

  Machine machine;
  SystemProgram p;
};

/// A stage on each of two chips: what `first` sends on link 1, `second`
/// receives on link 1.
TinySystem pipeline(TinyPart &first, TinyPart &second, Tick start = 0) {
  TinySystem s(2);
  s.cable(0, 1, 2);
  s.part(first);
  s.part(second);
  s.chip(0, 0, 0, 0, {{2, -1}});
  s.chip(1, 1, 0, start, {{-1, 3}});
  return s;
}

/// `ranks` chips of one stage, each with a cable to the next.
TinySystem ringOf(TinyPart &part, int ranks) {
  TinySystem s(ranks);
  s.part(part);
  for (int r = 0; r < ranks; ++r) {
    s.cable(r, (r + 1) % ranks, 0);
    s.chip(0, 0, uint32_t(r), 0, {{0, 1}});
  }
  return s;
}

TEST(SystemCheckTest, OneChipIsASystem) {
  TinyPart part;
  TinySystem s(1);
  part.t.copy(0, 0, 0, 40, 0, 0, 3, 100);
  s.part(part);
  s.chip(0, 0, 0, 0, {});
  EXPECT_EQ(s.broken(), Rules{});
  ++s.p.parts[0].predictedTicks;
  SystemReport report = s.check();
  Report alone = checkProgram(s.p.parts[0], s.machine);
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(report.violations[0].message, alone.violations[0].message);
}

TEST(SystemCheckTest, ReceivesComeAfterTheCrossing) {
  for (Tick early : {0, 1}) {
    TinyPart a, b;
    a.send(1, kSend, {4, 1});
    // The last of four: they cross one after another.
    TinySystem times(1);
    Tick arrival = kSend + 4 * times.crossing() + times.latency();
    b.receive(1, arrival - 3 - early, {4, 1});
    TinySystem s = pipeline(a, b);
    EXPECT_EQ(s.broken(), early ? Rules{"arrival"} : Rules{});
  }
}

TEST(SystemCheckTest, BurstsOfALinkCrossOneAfterAnother) {
  for (Tick early : {0, 1}) {
    TinyPart a, b;
    a.send(1, kSend, {4, 1});
    a.send(1, kSend + 10, {1});
    TinySystem times(1);
    Tick first = kSend + times.crossing() + times.latency();
    b.receive(1, first, {4, uint32_t(times.crossing())});
    b.receive(1, first + 4 * times.crossing() - early, {1});
    TinySystem s = pipeline(a, b);
    EXPECT_EQ(s.broken(), early ? Rules{"arrival"} : Rules{});
  }
}

TEST(SystemCheckTest, StartsCount) {
  TinyPart a, b;
  a.send(1, kSend, {1});
  b.receive(1, 10, {1});
  TinySystem times(1);
  Tick start = kSend + times.crossing() + times.latency() - 10;
  EXPECT_EQ(pipeline(a, b, start).broken(), Rules{});
  EXPECT_EQ(pipeline(a, b, start - 1).broken(), Rules{"arrival"});
}

TEST(SystemCheckTest, MessageNamesBothEnds) {
  TinyPart a, b;
  a.send(1, kSend, {2, 1});
  b.receive(1, 10, {2, 1});
  TinySystem s = pipeline(a, b, 244);
  SystemReport report = s.check();
  ASSERT_EQ(report.violations.size(), 1u);
  const SystemViolation &v = report.violations[0];
  EXPECT_EQ(v.message,
            "arrival: chip 1: part 1 instruction 0 receive (here) due at tick "
            "11: chip 0 link 1 to chip 1 link 1: vector 1 of burst 0 arrives "
            "only at tick 12; instruction 1 send (here) at tick 200 of chip 0 "
            "sent it");
  EXPECT_EQ(v.chip, 1);
  EXPECT_EQ(v.part, 1);
  EXPECT_EQ(v.instruction, 0u);
  EXPECT_EQ(v.tick, 11);
}

TEST(SystemCheckTest, BufferHoldsSoMany) {
  auto build = [](Tick late, int room) {
    TinyPart a, b;
    a.send(1, kSend, {6, 1});
    a.send(1, kSend + 400, {2, 1});
    // The first leaves in the tick of the last send.
    b.receive(1, kSend + 401 + late, {6, 11});
    b.receive(1, kSend + 800, {2, 1});
    TinySystem s = pipeline(a, b);
    s.machine.link.bufferVectors = room;
    return s.broken();
  };
  EXPECT_EQ(build(0, 14), Rules{});
  EXPECT_EQ(build(0, 13), Rules{"full"});
  EXPECT_EQ(build(1, 14), Rules{"full"});
  EXPECT_EQ(build(1, 16), Rules{});
  EXPECT_EQ(build(0, 11), Rules{"form"});
}

TEST(SystemCheckTest, EndsSendAndReceiveTheSame) {
  auto build = [](int sends, int receives, int width, uint32_t count) {
    TinyPart a, b;
    for (int k = 0; k < sends; ++k) {
      a.send(1, kSend + 10 * k, {3, 1});
    }
    for (int k = 0; k < receives; ++k) {
      b.receive(1, 600 + 10 * k, {count, 1}, width);
    }
    return pipeline(a, b).broken();
  };
  EXPECT_EQ(build(2, 2, 2, 3), Rules{});
  EXPECT_EQ(build(2, 2, 1, 3), Rules{"match"});
  EXPECT_EQ(build(2, 2, 2, 2), Rules{"match"});
  EXPECT_EQ(build(3, 2, 2, 3), Rules{"lost"});
  EXPECT_EQ(build(2, 3, 2, 3), Rules{"unsent"});
  EXPECT_EQ(build(2, 0, 2, 3), Rules{"lost"});
  EXPECT_EQ(build(0, 2, 2, 3), Rules{"unsent"});
}

TEST(SystemCheckTest, LinksLeadOverCables) {
  TinyPart a, b;
  a.send(1, kSend, {1});
  b.receive(1, 600, {1});
  TinySystem s = pipeline(a, b);
  s.p.chips[0].links[0].out = 3;
  EXPECT_EQ(s.broken(), (Rules{"cable", "unsent"}));
  s.p.chips[0].links[0].out = 7;
  EXPECT_EQ(s.broken(), (Rules{"binding", "unsent"}));
  s.p.chips[0].links.clear();
  EXPECT_EQ(s.broken(), (Rules{"binding", "unsent"}));
  s = pipeline(a, b);
  s.p.chips[0].links.push_back({2, -1});
  EXPECT_EQ(s.broken(), Rules{"binding"});
  s.p.chips[0].links.back() = {-1, 2}; // the other direction is free
  EXPECT_EQ(s.broken(), Rules{});
  s.p.chips.pop_back();
  s.p.parts.pop_back();
  EXPECT_EQ(s.broken(), Rules{"lost"});
}

TEST(SystemCheckTest, LinksOfAPartHaveQueuesOfTheirOwn) {
  for (int link : {1, 2}) {
    TinyPart a;
    a.send(1, kSend, {4, 2});
    a.t.add(kSend, SendOp{4, {4, 2}, LinkNumber(link), 2}); // the same vectors
    Rules rules;
    for (const Violation &v :
         checkProgram(a.program(), a.t.machine).violations) {
      rules.insert(v.rule);
    }
    EXPECT_EQ(rules, link == 1 ? Rules{"port"} : Rules{});
  }
}

TEST(SystemCheckTest, FormOfLinks) {
  auto build = [](int link, int width, uint32_t count) {
    TinyPart a;
    a.send(link, kSend, {count, 1}, width);
    Report report = checkProgram(a.program(), a.t.machine);
    return report.ok() ? "" : report.violations[0].rule;
  };
  EXPECT_EQ(build(7, 2, 128), "");
  EXPECT_EQ(build(8, 2, 128), "form");
  EXPECT_EQ(build(7, 2, 129), "form");
  EXPECT_EQ(build(0, 2, 1), "form"); // the host's is of four
  EXPECT_EQ(build(7, 0, 1), "form");
}

TEST(SystemCheckTest, RanksOfAGroup) {
  TinyPart part;
  part.send(1, kSend, {2, 1});
  part.receive(1, 600, {2, 1});
  EXPECT_EQ(ringOf(part, 3).broken(), Rules{});
  SystemReport report = ringOf(part, 3).check();
  EXPECT_EQ(report.links, 3u);
  EXPECT_EQ(report.linkBehaviours, 1u);
  EXPECT_EQ(report.linkVectorsProven, 12u);
  TinySystem s = ringOf(part, 3);
  std::swap(s.p.chips[0].rank, s.p.chips[1].rank);
  EXPECT_EQ(s.broken(), Rules{"rank"});
  s = ringOf(part, 3);
  s.p.chips[1].rank = 2;
  EXPECT_EQ(s.broken(), Rules{"rank"});
  s = ringOf(part, 3);
  s.p.chips[1].start = 1;
  EXPECT_EQ(s.broken(), Rules{"start"});
  s = ringOf(part, 3);
  s.p.chips[2].stage = 2;
  EXPECT_TRUE(s.broken().contains("rank"));
}

// Numbers from the group's size on lead to the next stage, however many.
TEST(SystemCheckTest, CablesBetweenStages) {
  TinyPart sends, both, first, second;
  for (int link : {1, 2}) {
    sends.send(link, kSend + 100 * link, {2, 1});
    both.receive(link, 600 + 100 * link, {2, 1});
  }
  TinySystem s(2);
  s.cable(0, 1, 2);
  s.cable(0, 1, 4);
  s.part(sends);
  s.part(both);
  s.chip(0, 0, 0, 0, {{2, -1}, {4, -1}});
  s.chip(1, 1, 0, 0, {{-1, 3}, {-1, 5}});
  EXPECT_EQ(s.broken(), Rules{});

  // The second of them leads past the next stage.
  first.receive(1, 700, {2, 1});
  second.receive(2, 800, {2, 1});
  TinySystem past(3);
  past.cable(0, 1, 2);
  past.cable(0, 2, 4);
  past.part(sends);
  past.part(first);
  past.part(second);
  past.chip(0, 0, 0, 0, {{2, -1}, {4, -1}});
  past.chip(1, 1, 0, 0, {{-1, 3}});
  past.chip(2, 2, 0, 0, {{-1, -1}, {-1, 5}});
  EXPECT_EQ(past.broken(), Rules{"rank"});
}

TEST(SystemCheckTest, ChipsOfTheSystem) {
  TinyPart part;
  part.send(1, kSend, {2, 1});
  part.receive(1, 600, {2, 1});
  TinySystem good = ringOf(part, 3);
  auto broken = [&](auto change) {
    TinySystem s = good;
    change(s.p);
    return s.broken();
  };
  using P = SystemProgram &;
  Rules rule{"system"};
  EXPECT_EQ(broken([](P p) { p.chips[2].chip = 3; }), rule);
  EXPECT_EQ(broken([](P p) { p.chips[0].chip = -1; }), rule);
  EXPECT_EQ(broken([](P p) { std::swap(p.chips[0], p.chips[1]); }), rule);
  EXPECT_EQ(broken([](P p) { p.chips[1].start = -1; }), rule);
  EXPECT_EQ(broken([](P p) { p.chips[1].links.resize(8); }), rule);
  EXPECT_EQ(broken([](P p) { p.parts.push_back(p.parts[0]); }), rule);
  EXPECT_EQ(broken([](P p) { p = {}; }), rule);
  TinySystem s = good;
  s.check();
  s.p.chips[1].part = 1;
  EXPECT_EQ(checkSystem(s.p, s.machine).violations[0].rule, "system");
}

TEST(SystemCheckTest, LinksAlikeAreReportedOnce) {
  TinyPart part;
  part.send(1, kSend, {2, 1});
  part.receive(1, 210, {2, 1});
  SystemReport report = ringOf(part, 5).check();
  ASSERT_EQ(report.violations.size(), 1u);
  EXPECT_NE(report.violations[0].message.find("so do 4 more links"),
            std::string::npos)
      << report.violations[0].message;
}

/// 72 stages of 8 chips, all to all: `parts` programs of `layers` gathers.
SystemProgram manyChips(Machine &machine, int stages, int ranks, int layers) {
  TinyPart middle, first, last;
  for (TinyPart *part : {&first, &middle, &last}) {
    if (part != &first) {
      part->receive(ranks, 10, {4, 40});
    }
    for (int i = 0; i < layers; ++i) {
      Tick tick = kSend + 200 * i;
      for (int j = 1; j < ranks; ++j) {
        part->send(j, tick + 4 * j, {4, 1});
        part->receive(j, tick + 90 + 4 * j, {4, 1});
      }
    }
    if (part != &last) {
      part->send(ranks, kSend + 200 * layers, {4, 40});
    }
  }
  SystemProgram p;
  for (TinyPart *part : {&first, &last, &middle}) {
    for (SramRegion &r : part->t.p.regions) {
      r.length = 4096;
      r.dies = r.kind == RegionKind::Temporary ? 1000000 : 0;
    }
    p.parts.push_back(part->program());
  }
  machine.system.chips = stages * ranks;
  machine.link.ports = ranks + 1;
  // Port j leads to the rank j further and from the rank j before; the stages
  // hang at the last two.
  for (int s = 0; s < stages; ++s) {
    for (int r = 0; r < ranks; ++r) {
      std::vector<LinkPorts> links;
      for (int j = 1; j < ranks; ++j) {
        links.push_back({j - 1, ranks - 1 - j});
        int other = s * ranks + (r + j) % ranks, own = s * ranks + r;
        if (own < other) {
          machine.system.links.push_back({own, j - 1, other, ranks - 1 - j});
        }
      }
      links.push_back({s + 1 < stages ? ranks - 1 : -1, s > 0 ? ranks : -1});
      if (s + 1 < stages) {
        machine.system.links.push_back(
            {s * ranks + r, ranks - 1, (s + 1) * ranks + r, ranks});
      }
      Tick start = s * (kSend + 200 * layers + 60);
      p.chips.push_back({s * ranks + r,
                         uint32_t(s == 0            ? 0
                                  : s + 1 == stages ? 1
                                                    : 2),
                         uint32_t(s), uint32_t(r), start, links});
      p.predictedTicks = start + p.parts[p.chips.back().part].predictedTicks;
    }
  }
  return p;
}

TEST(SystemCheckTest, CostIsFlatInChipsAndLinearInInstructions) {
  auto seconds = [](int stages, int layers) {
    Machine machine = *loadMachine("lpu-small");
    machine.queueBytes = 1 << 20; // the text of all layers
    SystemProgram p = manyChips(machine, stages, 8, layers);
    auto start = std::chrono::steady_clock::now();
    SystemReport report = checkSystem(p, machine);
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(report.ok()) << report.violations[0].message;
    // Links 1 to 7 of three parts, 8 from first to middle to middle to last.
    EXPECT_EQ(report.linkBehaviours, 3u * 7 + 3);
    EXPECT_EQ(report.links, uint64_t(stages) * 56 + (stages - 1) * 8u);
    return taken.count();
  };
  seconds(4, 2);
  double few = seconds(4, 20), many = seconds(72, 20), longer = seconds(4, 80);
  std::cout << "32 chips " << few << " s, 576 chips " << many
            << " s, 32 chips with 4 times the instructions " << longer
            << " s\n";
  EXPECT_LT(many, 3 * few + 0.1);
  EXPECT_LT(longer, 8 * few + 0.1);
}

} // namespace
} // namespace orrery::check
