// The algorithm on hand-made gangs: legal at c, illegal at c - 1.
#include "compiler/schedule/ListSchedule.h"
#include "compiler/schedule/Verify.h"
#include "tests/compiler/schedule/HandMade.h"

#include "gtest/gtest.h"

namespace orrery::schedule {
namespace {

Schedule solve(const HandMade &hand) {
  auto solution = listSchedule(hand.problem);
  EXPECT_TRUE(solution) << solution.error().message;
  Status ok = verify(hand.problem, *solution);
  EXPECT_TRUE(ok) << ok.error().message;
  return *solution;
}

// Nobody is waited for: the read issues at tick 0, is in the slice's register
// 5 ticks later and crosses from slice 28 (position 32) to the VXM at 31.
TEST(ListSchedule, AloneAtTheFirstTick) {
  HandMade hand;
  hand.copy(HandMade::table(28, 0, 0), hand.temporary(16, 0, 0), 3);
  Schedule s = solve(hand);
  // Slice 31 is read first so that all four lie on one diagonal.
  EXPECT_EQ(s.start[0], hand.machine.timing.read + 4);
  EXPECT_FALSE(verify(hand.problem, moved(s, 0, -5)));
}

TEST(ListSchedule, TwoOnOneUnitAreBackToBack) {
  HandMade hand;
  hand.copy(HandMade::table(28, 0, 0), hand.temporary(16, 0, 0), 7);
  hand.copy(HandMade::table(32, 0, 0), hand.temporary(20, 0, 0), 7);
  Schedule s = solve(hand);
  EXPECT_EQ(s.start[1], s.start[0] + 7);
  Status early = verify(hand.problem, moved(s, 1, -1));
  ASSERT_FALSE(early);
  EXPECT_NE(early.error().message.find("vxm: vector of gang 0"),
            std::string::npos)
      << early.error().message;
}

// A read of what the first wrote: write taken, `write` ticks, read issued.
TEST(ListSchedule, AReaderWaitsForItsWriter) {
  HandMade hand;
  Home middle = hand.temporary(16, 0, 0);
  uint32_t writer = hand.copy(HandMade::table(28, 0, 0), middle, 1);
  uint32_t reader = hand.copy(middle, hand.temporary(32, 1, 0), 1);
  Schedule s = solve(hand);
  auto tickOf = [&](uint32_t gang, const char *what) {
    for (const Member &member : hand.problem.gangs[gang].members) {
      if (std::string(mnemonic(member.operation)) == what) {
        return s.start[gang] + member.offset;
      }
    }
    return Tick(-1);
  };
  // Slice 16, after which both are named, takes the vector last and is read
  // first.
  Tick written = tickOf(writer, "write"), read = tickOf(reader, "read");
  EXPECT_EQ(read, written + hand.machine.timing.write);
  Status early = verify(hand.problem, moved(s, reader, -1));
  ASSERT_FALSE(early);
  EXPECT_NE(early.error().message.find("read of gang 1"), std::string::npos)
      << early.error().message;
}

TEST(ListSchedule, OneReadPortIsTakenInTurn) {
  HandMade hand;
  hand.copy(HandMade::table(28, 0, 0), hand.temporary(16, 0, 0), 4);
  hand.copy(HandMade::table(28, 1, 0), hand.temporary(20, 0, 0), 4);
  Schedule s = solve(hand);
  EXPECT_EQ(s.start[1], s.start[0] + 4);
  EXPECT_FALSE(verify(hand.problem, moved(s, 1, -1)));
}

// A buffer that takes over addresses waits for the last reader of the old one.
TEST(ListSchedule, AddressesAreTakenOverWhenFree) {
  HandMade hand;
  Home old = hand.temporary(16, 0, 0), next = hand.temporary(16, 0, 0);
  hand.share(old, next);
  hand.copy(HandMade::table(28, 0, 0), old, 5);
  uint32_t reader = hand.copy(old, hand.temporary(32, 1, 0), 5);
  uint32_t later = hand.copy(HandMade::table(36, 0, 0), next, 5);
  Schedule s = solve(hand);
  EXPECT_TRUE(verify(hand.problem, s));
  // Right behind the writer on the VXM, before the reader has read.
  Schedule early = s;
  early.start[later] = s.start[0] + 5;
  ASSERT_LT(early.start[later], s.start[reader]);
  EXPECT_FALSE(verify(hand.problem, early));
}

TEST(ListSchedule, UnlimitedWaitsForOperandsAlone) {
  HandMade hand;
  for (int n = 0; n < 6; ++n) {
    hand.copy(HandMade::table(28, 0, 0), hand.temporary(16, 0, uint32_t(n)), 1);
  }
  auto free = listSchedule(hand.problem, {.unlimited = true});
  ASSERT_TRUE(free);
  for (Tick start : free->start) {
    EXPECT_EQ(start, free->start[0]);
  }
  EXPECT_EQ(solve(hand).start[5], free->start[0] + 5);
}

// Five operands of one op from one side need 20 streams, nine 36 of 32.
TEST(ListSchedule, MoreStreamsThanTheChipHasIsRefused) {
  HandMade hand;
  GangBuilder b(hand.machine, 0);
  for (uint32_t k = 0; k < 9; ++k) {
    Home home = HandMade::table(28, 0, k);
    b.read(home, {.base = k}, {1, 1, 1, 0}, Direction::West,
           hand.geometry.ofVxm(), hand.geometry.ofVxm());
  }
  b.gang.members.clear(); // streams alone
  hand.problem.gangs.push_back(b.gang);
  auto solution = listSchedule(hand.problem);
  ASSERT_FALSE(solution);
  EXPECT_EQ(solution.error().message,
            "gang 0 needs more streams than the chip's 32 a direction");
}

TEST(ListSchedule, MoreActivationRowsThanAPlaneHoldsIsRefused) {
  HandMade hand;
  auto entries = uint32_t(hand.machine.matrix.activationVectors);
  hand.problem.loads = {{0, entries, 1}, {0, 1, 1}};
  for (uint32_t load : {0u, 1u}) {
    Gang gang;
    gang.loads = load;
    hand.problem.gangs.push_back(gang);
  }
  auto solution = listSchedule(hand.problem);
  ASSERT_FALSE(solution);
  EXPECT_EQ(solution.error().message,
            "activation buffer of 1024 vectors has no room for 1 more");
}

} // namespace
} // namespace orrery::schedule
