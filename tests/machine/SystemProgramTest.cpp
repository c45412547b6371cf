// validateSystemProgram, one negative test for each thing that it asks.
#include "machine/SystemProgram.h"

#include "machine/Validate.h"
#include "tests/machine/RandomSystem.h"

#include <gtest/gtest.h>

#include <functional>

namespace orrery {
namespace {

const Machine &node() {
  static const Machine machine = *loadMachine("lpu-small-node");
  return machine;
}

Program part(bool sendsOn, bool receivesFrom) {
  Program p{};
  p.machineJson = formatMachine(node());
  p.modelName = "m";
  p.modelHash = 5;
  p.tokens = 2;
  p.bucket = p.context = 64;
  p.predictedTicks = 1000;
  p.locations = {"layer 0"};
  SendOp send;
  ReceiveOp receive;
  send.link = receive.link = 1; // within the group
  p.instructions = {{100, 0, send}, {200, 0, receive}};
  send.link = receive.link = 2; // of the pipeline
  if (receivesFrom) {
    p.instructions.push_back({300, 0, receive});
  }
  if (sendsOn) {
    p.instructions.push_back({400, 0, send});
  }
  return p;
}

/// Chip `a`'s port to chip `b` of a node of eight.
int32_t portTo(int32_t a, int32_t b) { return b < a ? b : b - 1; }

/// Two stages of two ranks on chips 1, 2 and 4, 5.
SystemProgram valid() {
  SystemProgram s;
  s.parts = {part(true, false), part(false, true)};
  auto add = [&](int32_t chip, uint32_t stage, uint32_t rank, int32_t other,
                 LinkPorts pipeline) {
    int32_t port = portTo(chip, other);
    s.chips.push_back({chip,
                       stage,
                       stage,
                       rank,
                       Tick(stage) * 700,
                       {{port, port}, pipeline}});
  };
  add(1, 0, 0, 2, {portTo(1, 4), -1});
  add(2, 0, 1, 1, {portTo(2, 5), -1});
  add(4, 1, 0, 5, {-1, portTo(4, 1)});
  add(5, 1, 1, 4, {-1, portTo(5, 2)});
  s.predictedTicks = 1700;
  return s;
}

/// The error after an edit.
std::string error(const std::function<void(SystemProgram &)> &edit) {
  SystemProgram program = valid();
  edit(program);
  Status status = validateSystemProgram(program, node());
  return status ? "no error" : status.error().message;
}
std::string chipError(const std::function<void(ChipProgram &)> &edit) {
  return error([&](SystemProgram &s) { edit(s.chips[1]); });
}

TEST(SystemProgram, TheProgramOfTheseTestsIsValid) {
  EXPECT_EQ(error([](SystemProgram &) {}), "no error");
}

TEST(SystemProgram, OnOneChip) {
  SystemProgram one = onOneChip(part(false, false));
  EXPECT_EQ(one.predictedTicks, 1000);
  ASSERT_EQ(one.chips.size(), 1u);
  EXPECT_EQ(one.chips[0], ChipProgram());
  // Its part has a partner in a group, which one chip has not.
  EXPECT_EQ(validateSystemProgram(one, node()).error().message,
            "chip 0: link 1 out: expected a port, as its part uses it, found "
            "none");
  one.parts[0].instructions.clear();
  EXPECT_TRUE(validateSystemProgram(one, node()));
}

TEST(SystemProgram, RandomOnesAreValid) {
  for (const char *name : {"lpu-small-node", "lpu-small-ring", "lpu-small"}) {
    Machine machine = *loadMachine(name);
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      SystemProgram program = testing::RandomSystem(seed, machine).make(3);
      Status status = validateSystemProgram(program, machine);
      ASSERT_TRUE(status) << name << ", seed " << seed << ": "
                          << status.error().message;
    }
  }
}

//===-- Parts -------------------------------------------------------------===//

TEST(SystemProgram, Parts) {
  EXPECT_EQ(error([](auto &s) { s.parts.clear(); }),
            "parts: expected 1 to 8, found 0");
  EXPECT_EQ(error([](auto &s) { s.parts.resize(9, s.parts[0]); }),
            "parts: expected 1 to 8, found 9");
  EXPECT_EQ(error([](auto &s) { s.parts.push_back(s.parts[0]); }),
            "parts: expected chips that run each of 3, found 2");
  EXPECT_EQ(error([](auto &s) { s.parts[1].instructions[1].location = 1; }),
            "part 1: instruction 1 (receive, tick 200): location: expected 0, "
            "found 1");
}

TEST(SystemProgram, PartsAgree) {
  auto differs = [](const std::function<void(Program &)> &edit) {
    return error([&](SystemProgram &s) { edit(s.parts[1]); });
  };
  EXPECT_EQ(differs([](auto &p) { p.machineJson += " "; }),
            "part 1: machine: expected that of part 0, found another");
  EXPECT_EQ(differs([](auto &p) { p.modelName = "n"; }),
            "part 1: model name: expected that of part 0, found another");
  EXPECT_EQ(differs([](auto &p) { p.modelHash = 6; }),
            "part 1: model hash: expected that of part 0, found another");
  EXPECT_EQ(differs([](auto &p) { p.tokens = 1; }),
            "part 1: tokens: expected 2, found 1");
  EXPECT_EQ(differs([](auto &p) { p.bucket = 63; }),
            "part 1: bucket: expected 64, found 63");
  EXPECT_EQ(differs([](auto &p) { p.context = 65; }),
            "part 1: context: expected 64, found 65");
}

//===-- Chips -------------------------------------------------------------===//

TEST(SystemProgram, Chips) {
  EXPECT_EQ(error([](auto &s) { s.chips.clear(); }),
            "chips: expected 1 to 8, found 0");
  EXPECT_EQ(error([](auto &s) { s.chips.resize(9); }),
            "chips: expected 1 to 8, found 9");
  EXPECT_EQ(chipError([](auto &c) { c.chip = 1; }),
            "chip 1: number (ascending): expected 2 to 7, found 1");
  EXPECT_EQ(error([](auto &s) { s.chips[3].chip = 8; }),
            "chip 8: number (ascending): expected 5 to 7, found 8");
  EXPECT_EQ(error([](auto &s) { s.chips[0].chip = -1; }),
            "chip -1: number (ascending): expected 0 to 7, found -1");
  EXPECT_EQ(chipError([](auto &c) { c.part = 2; }),
            "chip 2: part: expected 0 to 1, found 2");
  EXPECT_EQ(chipError([](auto &c) { c.stage = 4; }),
            "chip 2: stage: expected 0 to 3, found 4");
  EXPECT_EQ(chipError([](auto &c) { c.rank = 4; }),
            "chip 2: rank: expected 0 to 3, found 4");
  EXPECT_EQ(chipError([](auto &c) { c.start = -1; }),
            "chip 2: start: expected 0 to 281474976710656, found -1");
  EXPECT_EQ(chipError([](auto &c) { c.start = kMaxTick + 1; }),
            "chip 2: start: expected 0 to 281474976710656, found "
            "281474976710657");
}

TEST(SystemProgram, Links) {
  EXPECT_EQ(chipError([](auto &c) { c.links.resize(8); }),
            "chip 2: links: expected 0 to 7, found 8");
  EXPECT_EQ(chipError([](auto &c) { c.links.resize(1); }),
            "chip 2: link 2 out: expected a port, as its part uses it, found "
            "none");
  EXPECT_EQ(chipError([](auto &c) { c.links[0].in = -1; }),
            "chip 2: link 1 in: expected a port, as its part uses it, found "
            "none");
  EXPECT_EQ(chipError([](auto &c) { c.links[0].out = 7; }),
            "chip 2: link 1 out: expected -1 to 6, found 7");
  EXPECT_EQ(chipError([](auto &c) { c.links[1].in = -2; }),
            "chip 2: link 2 in: expected -1 to 6, found -2");
  EXPECT_EQ(chipError([](auto &c) { c.links[1].out = c.links[0].out; }),
            "chip 2: link 2 out: expected a port of no other link, found 1");
  EXPECT_EQ(chipError([](auto &c) { c.links[1].in = c.links[0].in; }),
            "chip 2: link 2 in: expected a port of no other link, found 1");
  // A port that the part has no use for does no harm.
  EXPECT_EQ(chipError([](auto &c) { c.links[1].in = 6; }), "no error");
  EXPECT_EQ(chipError([](auto &c) { c.links.push_back({}); }), "no error");
}

TEST(SystemProgram, PortsHaveCables) {
  Machine ring = *loadMachine("lpu-small-ring");
  SystemProgram program = onOneChip(part(false, false));
  program.parts[0].machineJson = formatMachine(ring);
  program.chips[0].links = {{0, 1}};
  EXPECT_TRUE(validateSystemProgram(program, ring));
  program.chips[0].links = {{2, 1}}; // the chip has it, but no cable is there
  EXPECT_EQ(validateSystemProgram(program, ring).error().message,
            "chip 0: link 1 out: expected a port with a cable, found 2");
  program.chips[0].links = {{0, 6}};
  EXPECT_EQ(validateSystemProgram(program, ring).error().message,
            "chip 0: link 1 in: expected a port with a cable, found 6");
}

//===-- Stages ------------------------------------------------------------===//

TEST(SystemProgram, Stages) {
  EXPECT_EQ(chipError([](auto &c) { c.rank = 0; }),
            "chip 2: rank: expected one of its own in stage 0, found 0");
  EXPECT_EQ(chipError([](auto &c) { c.rank = 2; }),
            "stage 0: last rank: expected 1, found 2");
  EXPECT_EQ(chipError([](auto &c) { c.start = 1; }),
            "chip 2: start (that of its stage): expected 0, found 1");
  EXPECT_EQ(chipError([](auto &c) {
              c.part = 1;
              c.links[1].in = 6;
            }),
            "chip 2: part (that of its stage): expected 0, found 1");
  EXPECT_EQ(error([](auto &s) { s.chips[2].stage = s.chips[3].stage = 2; }),
            "stages: the next: expected 1, found 2");
  EXPECT_EQ(error([](auto &s) {
              for (ChipProgram &each : s.chips) {
                each.stage += 1;
              }
            }),
            "stages: the next: expected 0, found 1");
}

TEST(SystemProgram, TheEndIsTheLastChips) {
  EXPECT_EQ(error([](auto &s) { s.predictedTicks = 1699; }),
            "predicted ticks (the last chip's end): expected 1700, found 1699");
  EXPECT_EQ(error([](auto &s) { s.parts[0].predictedTicks = 1701; }),
            "predicted ticks (the last chip's end): expected 1701, found 1700");
}

} // namespace
} // namespace orrery
