// The checker's closed forms of what a link does, against an account vector by
// vector.
#include "simulator/check/LinkTraffic.h"

#include "machine/Timing.h"
#include "tests/simulator/check/Random.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace orrery::check {
namespace {

using test::Random;

BurstShape shapeOf(Random &r, uint32_t count) {
  uint32_t length = r.divisorOf(count);
  auto stride = uint32_t(r.between(1, 12));
  uint32_t run = (length - 1) * stride;
  return {length, stride, count / length,
          count == length ? 0 : run + uint32_t(r.between(1, 40))};
}

struct Draw {
  Machine machine = {};
  LinkTraffic from, to;
  Tick shift = 0;
};

/// Receives follow sends at a distance that is about what they need.
Draw draw(uint64_t seed) {
  Random r(seed);
  Draw d;
  d.machine.link.latency = r.between(1, 50);
  d.machine.link.vectorTicks = r.between(1, 5);
  d.shift = r.between(-500, 500);
  Tick send = r.between(0, 20), receive = send + r.between(0, 400);
  for (int k = int(r.between(1, 6)); k > 0; --k) {
    auto count = uint32_t(r.between(1, 24));
    auto width = uint8_t(r.between(1, 6));
    d.from.sends.push_back({0, send, shapeOf(r, count), width});
    d.to.receives.push_back({0, receive - d.shift, shapeOf(r, count), width});
    send = d.from.sends.back().last() + r.between(1, 60);
    receive = d.to.receives.back().last() + d.shift + r.between(1, 60);
    receive = std::max(receive, send + r.between(-60, 60));
  }
  return d;
}

TEST(LinkTrafficTest, ArrivalsAreThoseOfEveryVector) {
  int late = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw d = draw(seed);
    Crossing crossing(d.machine.link);
    Tick free = 0;
    for (size_t b = 0; b < d.from.sends.size(); ++b) {
      const LinkBurst &s = d.from.sends[b], &r = d.to.receives[b];
      LinkCrossing all = crossLink(d.machine, s.tick, s.shape, s.width, free);
      free = all.linkFree;
      auto found = crossing.carry(s, r, d.shift);
      uint64_t first = 0, count = s.shape.count();
      while (first < count &&
             r.tick + d.shift + r.shape.at(first) >= all.arrived[first]) {
        ++first;
      }
      ASSERT_EQ(found.has_value(), first < count);
      if (found) {
        EXPECT_EQ(found->vector, first);
        EXPECT_EQ(found->arrived, all.arrived[first]);
        EXPECT_EQ(found->taken, r.tick + d.shift + r.shape.at(first));
        ++late;
        break;
      }
    }
  }
  std::printf("2000 links, %d late\n", late);
  EXPECT_GT(late, 400);
  EXPECT_LT(late, 1900);
}

TEST(LinkTrafficTest, RoomIsThatOfEveryVector) {
  int full = 0, timely = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw d = draw(seed);
    Tick delay = 0; // makes all receives timely
    Tick free = 0;
    struct Vector {
      Tick sent, received;
      uint64_t width;
    };
    std::vector<Vector> all;
    for (size_t b = 0; b < d.from.sends.size(); ++b) {
      const LinkBurst &s = d.from.sends[b], &r = d.to.receives[b];
      LinkCrossing c = crossLink(d.machine, s.tick, s.shape, s.width, free);
      free = c.linkFree;
      for (uint64_t i = 0; i < s.shape.count(); ++i) {
        Tick received = r.tick + d.shift + r.shape.at(i);
        delay = std::max(delay, c.arrived[i] - received);
        all.push_back({s.tick + s.shape.at(i), received, s.width});
      }
    }
    timely += delay == 0;
    Random random(seed);
    auto room = uint64_t(random.between(6, 200));
    std::optional<uint64_t> first, held;
    for (size_t i = 0; i < all.size() && !first; ++i) {
      uint64_t now = 0;
      for (size_t j = 0; j <= i; ++j) {
        now += all[j].received + delay > all[i].sent ? all[j].width : 0;
      }
      if (now > room) {
        first = i;
        held = now;
      }
    }
    auto found =
        firstOverfull(d.from, d.to, d.from.sends.size(), d.shift + delay, room);
    ASSERT_EQ(found.has_value(), first.has_value());
    if (found) {
      uint64_t before = 0;
      for (size_t b = 0; b < found->burst; ++b) {
        before += d.from.sends[b].shape.count();
      }
      EXPECT_EQ(before + found->vector, *first);
      EXPECT_EQ(found->held, *held);
      ++full;
    }
  }
  std::printf("2000 links, %d timely as drawn, %d full\n", timely, full);
  EXPECT_GT(full, 400);
  EXPECT_LT(full, 1900);
}

} // namespace
} // namespace orrery::check
