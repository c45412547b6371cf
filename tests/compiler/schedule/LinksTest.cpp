// Links inside a tensor-parallel group: the algorithm waits for arrival and for
// room, and the verifier, with books of its own, names what does not.
#include "compiler/schedule/LinkHazards.h"
#include "compiler/schedule/ListSchedule.h"
#include "compiler/schedule/VerifyLinks.h"
#include "tests/compiler/schedule/HandMade.h"

#include "gtest/gtest.h"

namespace orrery::schedule {
namespace {

constexpr LinkNumber kLink = 1, kPipeline = 2;

/// Sends and receives of two ranks on link 1, a gang each.
class Exchange {
public:
  Exchange() {
    problem.machine = &machine;
    problem.groupLinks = kLink;
  }
  uint32_t send(uint32_t count, uint8_t width, LinkNumber link = kLink) {
    return add(SendOp{0, {count, 1, 1, 0}, link, width});
  }
  uint32_t receive(uint32_t count, uint8_t width, LinkNumber link = kLink) {
    return add(ReceiveOp{0, 0, {count, 1, 1, 0}, link, width});
  }
  /// The first tick at which the last of `count` vectors sent from tick 0 on a
  /// quiet link may be received, less the ticks of a burst before it.
  Tick firstReceive(uint32_t count, uint32_t width) const {
    return Tick(count) * width * machine.link.vectorTicks +
           machine.link.latency - Tick(count - 1);
  }

  Machine machine = *loadMachine("lpu-small");
  Problem problem{};

private:
  uint32_t add(Operation op) {
    Gang gang;
    gang.members.push_back({0, std::move(op)});
    problem.gangs.push_back(gang);
    return uint32_t(problem.gangs.size() - 1);
  }
};

void expectBroken(const Exchange &e, Schedule s, const std::string &words) {
  Status ok = verifyLinks(e.problem, s);
  ASSERT_FALSE(ok) << words;
  EXPECT_NE(ok.error().message.find(words), std::string::npos)
      << ok.error().message;
}

TEST(Links, AReceiveWaitsForItsVectors) {
  for (uint32_t width : {1u, 4u}) {
    for (uint32_t count : {1u, 7u}) {
      Exchange e;
      e.send(count, uint8_t(width));
      uint32_t in = e.receive(count, uint8_t(width));
      auto s = listSchedule(e.problem);
      ASSERT_TRUE(s) << s.error().message;
      EXPECT_EQ(s->start[in], e.firstReceive(count, width));
      EXPECT_TRUE(verifyLinks(e.problem, *s));
      expectBroken(e, moved(*s, in, -1), "is received at");
    }
  }
}

// The second burst crosses when the first has.
TEST(Links, BurstsCrossOneAfterAnother) {
  Exchange e;
  e.send(3, 2), e.send(3, 2);
  e.receive(3, 2);
  uint32_t second = e.receive(3, 2);
  auto s = listSchedule(e.problem);
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->start[second], e.firstReceive(6, 2) + 3);
  EXPECT_TRUE(verifyLinks(e.problem, *s));
  expectBroken(e, moved(*s, second, -1), "is received at");
}

TEST(Links, ASendWaitsForRoomAtTheOtherEnd) {
  Exchange e;
  e.machine.link.bufferVectors = 10;
  e.send(2, 4);
  uint32_t in = e.receive(2, 4);
  uint32_t again = e.send(2, 4);
  e.receive(2, 4);
  auto s = listSchedule(e.problem);
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->start[again], s->start[in] + 2); // after its last vector
  EXPECT_TRUE(verifyLinks(e.problem, *s));
  // Two more find room as soon as the first is out of the buffer.
  expectBroken(e, moved(*s, again, -2), "vectors holds");
}

TEST(Links, WaitingForWhatComesLaterIsRefused) {
  Exchange late;
  late.receive(1, 1);
  late.send(1, 1);
  EXPECT_FALSE(listSchedule(late.problem));
  Exchange full;
  full.machine.link.bufferVectors = 8;
  full.send(8, 1), full.send(1, 1);
  full.receive(8, 1), full.receive(1, 1);
  EXPECT_FALSE(listSchedule(full.problem));
}

TEST(Links, WhatIsSentMustBeReceivedAlike) {
  Exchange left;
  left.send(1, 1);
  expectBroken(left, {{0}, {{}}, {}}, "1 bursts sent, 0 received");
  Exchange width;
  width.send(2, 2), width.receive(2, 1);
  expectBroken(width, {{0, 1000}, {{}, {}}, {}}, "sent 2 x 2 vectors");
  Exchange count;
  count.send(2, 2), count.receive(1, 2);
  expectBroken(count, {{0, 1000}, {{}, {}}, {}}, "received 1 x 2");
}

// A later op may not overtake: the other end would take its vectors for those
// of the earlier.
TEST(Links, BurstsKeepProgramOrder) {
  for (LinkNumber link : {kLink, kPipeline}) {
    Exchange e;
    e.send(3, 1, link);
    uint32_t second = e.send(3, 1, link);
    e.receive(3, 1, link), e.receive(3, 1, link);
    auto s = listSchedule(e.problem);
    ASSERT_TRUE(s) << s.error().message;
    EXPECT_EQ(s->start[second], s->start[0] + 3);
    Schedule swapped = *s;
    std::swap(swapped.start[0], swapped.start[second]);
    expectBroken(e, swapped, "before the one before it ends");
  }
}

// Other stages send and receive at ticks of their own.
TEST(Links, TheLinkBetweenStagesIsNotMirrored) {
  Exchange e;
  uint32_t in = e.receive(4, 4, kPipeline);
  uint32_t out = e.send(4, 4, kPipeline);
  auto s = listSchedule(e.problem);
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->start[in], 0);
  EXPECT_EQ(s->start[out], 0);
  EXPECT_TRUE(verifyLinks(e.problem, *s));
}

} // namespace
} // namespace orrery::schedule
