// Many chips in one step: links between them, their starts, their values.
#include "simulator/report/Trace.h"
#include "tests/simulator/TestSystem.h"

#include <gtest/gtest.h>

namespace orrery::sim::test {
namespace {

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Sends 3 vectors of two streams in cycle 100; they arrive in 126, 132, 138.
LinkPart sender() {
  LinkPart part;
  part.sends(100, 1, burst(3), 2);
  return part;
}
LinkPart receiver(Tick tick, uint32_t stride = 6) {
  LinkPart part;
  part.receives(tick, 1, burst(3, stride), 2);
  return part;
}

TEST(System, AVectorIsReceivedWhenItHasArrived) {
  EXPECT_EQ(TestSystem::pair(sender(), receiver(126)).error(), "");
  EXPECT_EQ(TestSystem::pair(sender(), receiver(300, 1)).error(), "");
  EXPECT_EQ(TestSystem::pair(sender(), receiver(125)).error(),
            "chip 1: link in 1: instruction 0 receive (layer 0 test), cycle "
            "125: expected vector 0 of the burst, found that it arrives in "
            "cycle 126, from instruction 1 of chip 0");
  EXPECT_TRUE(has(TestSystem::pair(sender(), receiver(126, 5)).error(),
                  "cycle 131: expected vector 1 of the burst, found that it "
                  "arrives in cycle 132"));
  EXPECT_TRUE(has(TestSystem::pair(sender(), receiver(50)).error(),
                  "found nothing that it has sent by now"));
}

TEST(System, ChipsStartWhenTheProgramSays) {
  // Chip 1 receives in its own cycle 2.
  for (Tick early : {0, 1}) {
    TestSystem system = TestSystem::pair(sender(), receiver(2));
    system.program.chips[0].start = 1000;
    system.program.chips[1].start = 1124 - early;
    SystemSimulator s = system.simulator();
    auto result = s.run(system.program, system.input);
    if (early == 1) {
      ASSERT_FALSE(result);
      EXPECT_TRUE(has(result.error().message, "chip 1: link in 1"));
      EXPECT_TRUE(has(result.error().message,
                      "cycle 2: expected vector 0 of the burst, found that it "
                      "arrives in cycle 3"));
      continue;
    }
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->of(1).executed[0], 2);
    EXPECT_EQ(result->of(0).ticks, 103);
    // The last vector comes in 2 + 12, is at slice 8 `travel` later, and
    // readable 2 ticks after that; slice 8 is the farther of the two.
    Tick end = 14 + LinkPart().g.ofHost() - LinkPart().g.ofSlice(8) + 2;
    EXPECT_EQ(result->of(1).ticks, end);
    EXPECT_EQ(result->ticks, 1124 + end);
  }
}

TEST(System, AStartMayBeBeforeTheSenders) {
  TestSystem system = TestSystem::pair(sender(), receiver(26));
  system.program.chips[1].start = 100;
  EXPECT_EQ(system.error(), "");
  system.program.chips[0].start = 1;
  EXPECT_NE(system.error(), "");
}

/// Receives f32, doubles it in the VXM, and sends it on: all on streams.
struct DoublingPart : LinkPart {
  DoublingPart(Tick tick, BurstShape shape, LinkNumber from, LinkNumber to) {
    program.vectorPrograms.push_back(doubling());
    ReceiveOp in;
    in.stop = g.ofVxm();
    in.shape = shape;
    in.link = from;
    add(tick, in);
    Tick taken = travel(tick, g.ofHost(), g.ofVxm());
    VectorOp op;
    op.count = uint32_t(shape.count());
    op.inputs = op.outputs = 1;
    op.in[0] = {Direction::West, 0};
    op.out[0] = {{Direction::East, 0}, g.ofHost()};
    add(taken, op);
    SendOp out;
    out.shape = shape;
    out.link = to;
    sent = travel(taken + latencyOf(), g.ofVxm(), g.ofHost());
    add(sent, out);
  }
  /// One `add` step behind the alignment of operands.
  Tick latencyOf() const { return 2 * machine.timing.alu; }
  Tick sent;
};

TEST(System, ValuesTravelThereAndBack) {
  // Vectors come one a cycle, which is as fast as the VXM takes them, so they
  // are received when all have arrived: 2 vectors of 4 streams, 12 ticks each.
  LinkPart first;
  first.sends(100, 1, burst(2));
  DoublingPart second(100 + 24 + 20 - 1, burst(2), 1, 1);
  first.receives(second.sent + 24 + 20 - 1, 1, burst(2));
  for (uint32_t n = 0; n < 2; ++n) {
    first.putF32(LinkPart::kFrom, n, std::vector<float>(32, 1.5f + float(n)));
  }
  TestSystem system = TestSystem::pair(first, second);
  system.images[0] = first.image;
  SystemSimulator s = system.simulator();
  auto result = s.run(system.program, system.input);
  ASSERT_TRUE(result) << result.error().message;
  for (uint32_t n = 0; n < 2; ++n) {
    EXPECT_EQ(TestChip::getF32(s.sram(0), LinkPart::kTo, n, 32),
              std::vector<float>(32, 3.0f + 2 * float(n)));
  }
  // Time alone says the same.
  SystemSimulator timing(system.machine);
  auto again = timing.run(system.program, system.input);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->ticks, result->ticks);
  for (size_t chip = 0; chip < 2; ++chip) {
    EXPECT_EQ(again->of(chip).completed, result->of(chip).completed);
  }
}

TEST(System, AVectorIsThereWhileItsBurstIsStillSent) {
  // Sent in cycles 100, 160 and 220; the first arrives in 132, is written, read
  // again and written elsewhere before the last one leaves.
  LinkPart first, second;
  first.sends(100, 1, burst(3, 60));
  first.putF32(LinkPart::kFrom, 0, std::vector<float>(32, -7));
  second.receives(132, 1, burst(3, 60));
  second.region(RegionKind::Kv, 24, 4, 0, 0, 64);
  Geometry g = second.g;
  Tick written = second.travel(132, g.ofHost(), g.ofSlice(LinkPart::kTo));
  ReadOp again =
      TestChip::read(LinkPart::kTo, 4, linear(0, 1),
                     {{Direction::East, 0}, g.ofSlice(27)}, burst(1));
  second.add(written + 2, again);
  Tick copied = second.readPasses(again, written + 2, g.ofSlice(24));
  second.add(copied, TestChip::write(24, 4, linear(0, 1), {Direction::East, 0},
                                     burst(1)));
  ASSERT_LT(copied + 3, 220);
  TestSystem system = TestSystem::pair(first, second);
  system.images[0] = first.image;
  SystemSimulator s = system.simulator();
  auto result = s.run(system.program, system.input);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(TestChip::getF32(s.sram(1), 24, 0, 32), std::vector<float>(32, -7));
}

/// Sends the doubles of table vectors, each 60 ticks.
struct SendDoubles : LinkPart {
  explicit SendDoubles(uint32_t count) {
    program.vectorPrograms.push_back(doubling());
    for (uint32_t n = 0; n < count; ++n) {
      Tick start = 10 + 60 * Tick(n);
      ReadOp in = read(kFrom, 4, linear(n, 1),
                       {{Direction::East, 0}, g.ofVxm()}, burst(1));
      add(start, in);
      VectorOp op;
      op.inputs = op.outputs = 1;
      op.in[0] = {Direction::East, 0};
      op.out[0] = {{Direction::East, 4}, g.ofHost()};
      Tick taken = readPasses(in, start, g.ofVxm());
      number = add(taken, op);
      SendOp out;
      out.stream = 4;
      out.link = 1;
      add(travel(taken + 2 * machine.timing.alu, g.ofVxm(), g.ofHost()), out);
    }
  }
  uint32_t number;
};

TEST(System, ABadValueIsItsMakersFault) {
  SendDoubles first(2);
  first.putF32(LinkPart::kFrom, 1, std::vector<float>(32, 3e38f));
  LinkPart second;
  Tick arrives = first.program.instructions[2].tick + 12 + 20;
  second.receives(arrives, 1, burst(1));
  second.receives(arrives + 60, 1, burst(1), 4, 1);
  TestSystem system = TestSystem::pair(first, second);
  EXPECT_EQ(system.functionalError(), "");
  system.images[0] = first.image;
  std::string error = system.functionalError();
  EXPECT_TRUE(has(error, "chip 0: vxm: instruction 4 vector")) << error;
  EXPECT_TRUE(has(error, "is infinite in lane 0")) << error;
}

TEST(System, BurstsMatchInWidthAndLength) {
  LinkPart wide = receiver(300), longer;
  std::get<ReceiveOp>(wide.program.instructions[0].operation).width = 1;
  std::string error = TestSystem::pair(sender(), wide).error();
  EXPECT_TRUE(has(error, "chip 1: link in 1: instruction 0 receive (layer 0 "
                         "test), cycle 300: expected 3 vectors of 1 stream, "
                         "found 3 vectors of 2 streams from instruction 1 of "
                         "chip 0"))
      << error;
  longer.receives(300, 1, burst(4), 2);
  EXPECT_TRUE(has(TestSystem::pair(sender(), longer).error(),
                  "expected 4 vectors of 2 streams, found 3 vectors"));
}

TEST(System, NothingMayBeLeft) {
  std::string error = TestSystem::pair(sender(), LinkPart()).error();
  EXPECT_EQ(error, "chip 0: link out 1: instruction 1 send (layer 0 test), "
                   "cycle 100: expected that chip 1 receives the 3 vectors of "
                   "the burst, found them in its link 1 when the step ends");
}

TEST(System, AFullBufferIsTheSendersFault) {
  // 16 vectors of one stream have room. The first 8 of two streams leave from
  // cycle 200 on.
  for (Tick early : {0, 1}) {
    LinkPart first, second;
    first.sends(100, 1, burst(8), 2);
    first.sends(200 - early, 1, burst(1), 2);
    second.receives(200, 1, burst(8), 2);
    second.receives(300, 1, burst(1), 2);
    TestSystem system = TestSystem::pair(first, second);
    if (early == 0) {
      EXPECT_EQ(system.error(), "");
    } else {
      EXPECT_EQ(system.error(),
                "chip 0: link out 1: instruction 3 send (layer 0 test), cycle "
                "199: vector 0 of the burst: expected at most 16 vectors that "
                "are sent and not yet received, found 18");
    }
  }
}

TEST(System, ALinkSendsOneBurstAtATime) {
  for (Tick second : {108, 109}) {
    LinkPart from, to;
    from.sends(100, 1, burst(2, 8), 1);
    from.sends(second, 1, burst(1), 1);
    // From another slice on another stream: only the link is asked for twice.
    auto &op = std::get<ReadOp>(from.program.instructions[2].operation);
    op.slice = LinkPart::kFrom + 1;
    op.out.ref.stream = 1;
    std::get<SendOp>(from.program.instructions[3].operation).stream = 1;
    from.program.instructions[2].tick =
        second - from.readPasses(op, 0, from.g.ofHost());
    to.receives(300, 1, burst(2), 1);
    to.receives(310, 1, burst(1), 1);
    std::string error = TestSystem::pair(from, to).error();
    if (second == 109) {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_EQ(error, "chip 0: link out 1: instruction 3 send (layer 0 test), "
                       "cycle 108: the queue is taken by instruction 1 in "
                       "cycles 100 to 108");
    }
  }
}

TEST(System, LinksLeadSomewhere) {
  auto errorWith = [](auto change) {
    TestSystem system(3);
    system.chip(0, system.part(sender()), {TestSystem::ports(0, 1, 1)});
    system.chip(1, system.part(receiver(126)), {TestSystem::ports(1, 0, 0)});
    change(system);
    return system.error();
  };
  auto links = [](TestSystem &s, int32_t chip) -> LinkPorts & {
    return s.program.chips[size_t(chip)].links[0];
  };
  EXPECT_EQ(errorWith([](TestSystem &) {}), "");
  EXPECT_EQ(errorWith([&](TestSystem &s) { links(s, 0).out = -1; }),
            "chip 0: link out 1: instruction 1 send (layer 0 test), cycle 100: "
            "no port is behind this direction of the link");
  // Chip 2 is idle.
  EXPECT_TRUE(has(errorWith([&](TestSystem &s) {
                    links(s, 0).out = TestSystem::port(0, 2);
                  }),
                  "cycle 100: the cable at port 1 of chip 0 leads to port 0 of "
                  "chip 2, where nobody receives"));
  EXPECT_TRUE(has(errorWith([&](TestSystem &s) { links(s, 0).out = 3; }),
                  "cycle 100: no cable is at port 3 of chip 0"));
  EXPECT_TRUE(has(errorWith([&](TestSystem &s) { links(s, 1).in = 3; }),
                  "chip 0: link out 1"));
  EXPECT_TRUE(has(errorWith([&](TestSystem &s) {
                    s.program.parts[0] = LinkPart().program;
                    links(s, 0).out = -1;
                  }),
                  "chip 1: link in 1: instruction 0 receive (layer 0 test), "
                  "cycle 126: the cable at port 0 of chip 1 leads to port 0 of "
                  "chip 0, where nobody sends"));
  EXPECT_TRUE(
      has(errorWith([&](TestSystem &s) { s.program.chips[0].links.clear(); }),
          "chip 0: link out 1: instruction 1 send (layer 0 test), cycle "
          "100: link 1 of 0"));
  EXPECT_TRUE(has(
      errorWith([&](TestSystem &s) {
        std::get<SendOp>(s.program.parts[0].instructions[1].operation).width =
            0;
      }),
      "a burst of no streams"));
}

TEST(System, ASystemProgramNamesWhatThereIs) {
  auto errorWith = [](auto change) {
    TestSystem system = TestSystem::pair(sender(), receiver(126));
    change(system.program);
    return system.error();
  };
  EXPECT_EQ(errorWith([](SystemProgram &p) { p.chips[1].chip = 2; }),
            "system program: chip: expected 0 to 1, found 2");
  EXPECT_EQ(errorWith([](SystemProgram &p) { p.chips[1].chip = 0; }),
            "system program: chip 0 after chip 0, expected ascending chips");
  EXPECT_EQ(errorWith([](SystemProgram &p) { p.chips[1].part = 2; }),
            "chip 1: part: expected 0 to 1, found 2");
  EXPECT_EQ(errorWith([](SystemProgram &p) { p.chips[1].start = -1; }),
            "chip 1: start: expected 0 to 281474976710656, found -1");
  EXPECT_EQ(errorWith([](SystemProgram &p) { p.chips[1].links[0].in = 4; }),
            "chip 1: link 1: port: expected 0 to 3, found 4");
  EXPECT_EQ(errorWith([](SystemProgram &p) { p.chips[1].links.resize(5); }),
            "chip 1: links: expected 0 to 4, found 5");
  EXPECT_EQ(errorWith([](SystemProgram &p) {
              p.chips[1].links.push_back(p.chips[1].links[0]);
            }),
            "chip 1: link 2 out: port 0 is behind link 1 already");
  TestSystem system = TestSystem::pair(sender(), receiver(126));
  system.images.pop_back();
  EXPECT_EQ(system.functionalError(),
            "step input: expected SRAM images and host vectors for 2 chips, "
            "found 1 and 2");
  system = TestSystem::pair(sender(), receiver(126));
  system.program.parts[1].inputVectors = 1;
  EXPECT_EQ(system.functionalError(),
            "chip 1: step input: host floats 0, expected 32");
  system.program.parts[1].regions[1].slice = 13;
  EXPECT_EQ(system.error(),
            "chip 1: program: cycle 0: regions 'region 0' and 'region 1' "
            "overlap");
}

TEST(System, TheBooksOfLinks) {
  TestSystem system = TestSystem::pair(sender(), receiver(136));
  SystemSimulator s(system.machine);
  Trace trace;
  s.setTrace(&trace);
  auto result = s.run(system.program, system.input);
  ASSERT_TRUE(result) << result.error().message;
  const Counters &from = result->of(0).counters, &to = result->of(1).counters;
  ASSERT_EQ(from.links.size(), 4u);
  EXPECT_EQ(from.links[0].bytesOut, 3u * 2 * 32);
  EXPECT_EQ(from.links[0].crossingTicks, 3u * 2 * 3);
  EXPECT_EQ(from.links[0].bytesIn, 0u);
  EXPECT_EQ(to.links[0].bytesIn, 3u * 2 * 32);
  EXPECT_EQ(to.links[0].mostBufferedVectors, 6u);
  EXPECT_EQ(to.links[0].heldVectorTicks, 3u * 2 * 10);
  // The receive is the first that chip 1 does.
  EXPECT_EQ(to.links[0].waitTicks, 136u);
  EXPECT_EQ(to.hostWaitTicks + to.otherWaitTicks,
            uint64_t(LinkPart().g.ofHost() - LinkPart().g.ofSlice(9) + 1 - 12));
  for (const Counters *c : {&from, &to}) {
    for (const UnitCounters &u : c->units) {
      bool isLink = u.name == (c == &from ? "link out 1" : "link in 1");
      EXPECT_EQ(u.instructions,
                isLink || u.name.starts_with("slice") ? u.instructions : 0u)
          << u.name;
      EXPECT_EQ(isLink, isLink && u.vectors == 3) << u.name;
      EXPECT_EQ(u.busyTicks + u.idleTicks,
                uint64_t(result->of(c == &to).ticks));
    }
  }
  const EnergyParameters &e = system.machine.energy;
  EXPECT_DOUBLE_EQ(from.energy.linkJoules, 192 * e.linkPjPerByte * 1e-12);
  EXPECT_EQ(to.energy.linkJoules, 0);
  EXPECT_DOUBLE_EQ(result->energy.linkJoules, from.energy.linkJoules);
  EXPECT_DOUBLE_EQ(result->energy.dynamicJoules(),
                   from.energy.dynamicJoules() + to.energy.dynamicJoules());
  EXPECT_DOUBLE_EQ(result->energy.staticJoules,
                   2 * 100.0 * double(result->ticks) / 900e6);
  std::string json = trace.json(system.machine, system.program);
  EXPECT_TRUE(has(json, "chip 1"));
  EXPECT_TRUE(has(json, "link in 1"));
}

} // namespace
} // namespace orrery::sim::test
