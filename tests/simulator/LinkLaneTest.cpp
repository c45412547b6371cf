// One direction of a cable: when vectors arrive, and how many may wait.
#include "simulator/timing/LinkLane.h"
#include "machine/Timing.h"
#include "tests/simulator/TestChip.h"

#include <gtest/gtest.h>

#include <random>

namespace orrery::sim::test {
namespace {

/// 3 ticks a vector of one stream, 20 of latency, room for 16.
struct Cable {
  Machine machine = smallMachine();
  LinkWire wire{machine.link};
  LinkLane lane;
  uint32_t bursts = 0;

  explicit Cable(Tick shift = 0) : lane(machine.link, shift, "chip 7") {}
  void send(Tick tick, BurstShape shape, uint32_t width = 1) {
    lane.enter(wire.send(ticksOf(tick, shape), width, bursts++));
  }
  std::string receive(Tick tick, BurstShape shape, uint32_t width = 1) {
    try {
      lane.receive(ticksOf(tick, shape), width);
      return "";
    } catch (const Illegal &illegal) {
      return "cycle " + std::to_string(illegal.due) + ": " + illegal.found;
    }
  }
};

TEST(LinkLane, AVectorArrivesWhenItHasCrossed) {
  for (uint32_t width : {1u, 4u}) {
    Tick arrives = 100 + 3 * width + 20;
    Cable late, early;
    late.send(100, burst(1), width);
    early.send(100, burst(1), width);
    EXPECT_EQ(late.receive(arrives, burst(1), width), "");
    EXPECT_EQ(early.receive(arrives - 1, burst(1), width),
              "cycle " + std::to_string(arrives - 1) +
                  ": expected vector 0 of the burst, found that it arrives in "
                  "cycle " +
                  std::to_string(arrives) + ", from instruction 0 of chip 7");
  }
}

TEST(LinkLane, VectorsCrossOneAfterAnother) {
  // Two streams: 6 ticks a vector; sent each tick, they arrive each 6.
  Cable dense, tooDense;
  dense.send(10, burst(4), 2);
  tooDense.send(10, burst(4), 2);
  EXPECT_EQ(dense.receive(36, burst(4, 6), 2), "");
  EXPECT_NE(tooDense.receive(36, burst(4, 5), 2)
                .find("cycle 41: expected vector 1 of the burst, found that it "
                      "arrives in cycle 42"),
            std::string::npos);
  // Sent each 9 ticks, they arrive each 9.
  Cable sparse, tooSoon;
  sparse.send(10, burst(3, 9), 2);
  tooSoon.send(10, burst(3, 9), 2);
  EXPECT_EQ(sparse.receive(36, burst(3, 9), 2), "");
  EXPECT_NE(tooSoon.receive(37, burst(3, 8), 2).find("cycle 53"),
            std::string::npos);
}

TEST(LinkLane, ABurstCrossesBehindTheOneBefore) {
  for (Tick early : {0, 1}) {
    Cable cable;
    cable.send(0, burst(5)); // has crossed at 15
    cable.send(6, burst(1), 2);
    EXPECT_EQ(cable.receive(35, burst(5)), "");
    EXPECT_EQ(cable.receive(15 + 6 + 20 - early, burst(1), 2).empty(),
              early == 0);
  }
}

TEST(LinkLane, OneClockIsAheadOfTheOther) {
  // The sender's tick 100 is the receiver's tick 40.
  Cable cable(-60), early(-60);
  cable.send(100, burst(1));
  early.send(100, burst(1));
  EXPECT_EQ(cable.receive(63, burst(1)), "");
  EXPECT_NE(early.receive(62, burst(1)), "");
}

TEST(LinkLane, BurstsAreReceivedAsTheyWereSent) {
  Cable cable;
  EXPECT_EQ(cable.receive(90, burst(2), 3),
            "cycle 90: expected 2 vectors of 3 streams from chip 7, found "
            "nothing that it has sent by now");
  cable.send(0, burst(2), 2);
  EXPECT_EQ(cable.receive(90, burst(2), 3),
            "cycle 90: expected 2 vectors of 3 streams, found 2 vectors of 2 "
            "streams from instruction 0 of chip 7");
  EXPECT_NE(cable.receive(90, burst(1), 2), "");
  EXPECT_EQ(cable.receive(90, burst(2), 2), "");
  EXPECT_FALSE(cable.lane.leftover());
}

TEST(LinkLane, WhatIsNotReceivedIsLeft) {
  Cable cable;
  cable.send(0, burst(2));
  cable.send(5, burst(1));
  EXPECT_EQ(cable.receive(90, burst(2)), "");
  ASSERT_TRUE(cable.lane.leftover());
  EXPECT_EQ(cable.lane.leftover()->instruction, 1u);
}

TEST(LinkLane, APlaceIsFreeFromTheReceiveOn) {
  // The first burst takes all 16 places and leaves them two a cycle; the second
  // follows it through.
  for (Tick early : {0, 1}) {
    Cable cable;
    cable.send(0, burst(8), 2);
    cable.send(100 - early, burst(8), 2);
    EXPECT_EQ(cable.receive(100, burst(8), 2), "");
    EXPECT_EQ(cable.receive(200, burst(8), 2), "");
    EXPECT_EQ(cable.lane.follow(INT64_MAX).has_value(), early == 1);
  }
}

TEST(LinkLane, TooManyVectorsAreTheSendersFault) {
  for (Tick early : {0, 1}) {
    Cable cable(7); // the receiver's clock is 7 ticks ahead
    cable.send(0, burst(8), 2);
    cable.send(93 - early, burst(1), 2);
    EXPECT_EQ(cable.receive(100, burst(8), 2), "");
    EXPECT_EQ(cable.receive(200, burst(1), 2), "");
    auto overflow = cable.lane.follow(INT64_MAX);
    ASSERT_EQ(overflow.has_value(), early == 1);
    EXPECT_EQ(cable.lane.mostBuffered(), 16u + 2 * uint64_t(early));
    if (overflow) {
      EXPECT_EQ(overflow->instruction, 1u);
      EXPECT_EQ(overflow->illegal.due, 92);
      EXPECT_EQ(overflow->illegal.found,
                "vector 0 of the burst: expected at most 16 vectors that are "
                "sent and not yet received, found 18");
    }
  }
}

TEST(LinkLane, RandomTrafficArrivesAsTheContractSays) {
  std::mt19937 random(5);
  auto pick = [&](uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    Cable cable;
    Tick tick = 0, free = 0, received = 0;
    for (int b = 0; b < 6; ++b) {
      uint32_t width = pick(1, 4);
      uint32_t stride = pick(1, 9), length = pick(1, 4);
      BurstShape shape{length, stride, pick(1, 2),
                       length * stride + pick(0, 9)};
      LinkCrossing crossing =
          crossLink(cable.machine, tick, shape, width, free);
      cable.send(tick, shape, width);
      // One vector a tick, as soon as all of the burst allow.
      Tick first = received;
      for (size_t i = 0; i < crossing.arrived.size(); ++i) {
        first = std::max(first, crossing.arrived[i] - Tick(i));
      }
      bool isTight = first > received;
      BurstShape out = burst(uint32_t(shape.count()));
      if (isTight) {
        EXPECT_NE(cable.receive(first - 1, out, width), "") << round;
      }
      EXPECT_EQ(cable.receive(first, out, width), "") << round;
      received = first + Tick(shape.count());
      free = crossing.linkFree;
      tick += shape.span() + 1 + pick(0, 30);
    }
  }
}

} // namespace
} // namespace orrery::sim::test
