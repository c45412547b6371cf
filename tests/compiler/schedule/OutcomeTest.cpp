// End ticks against closed forms, lifetimes, and lower bounds.
#include "compiler/schedule/Outcome.h"
#include "compiler/schedule/ListSchedule.h"
#include "tests/compiler/schedule/HandMade.h"

#include "gtest/gtest.h"

namespace orrery::schedule {
namespace {

class EndTick : public ::testing::Test {
protected:
  Tick endOf(Operation op, Tick tick = 100) const {
    return endTick(m, programs, {{tick, 0, op}});
  }
  const Machine m = *loadMachine("lpu-small");
  std::vector<VectorProgram> programs = {
      {{StreamType::F32}, {}, {{0, StreamType::F32}}, 1},
      {{StreamType::F32},
       {{AluOp::Mul}},
       {{1, StreamType::F32, Reduction::SumWide}},
       4}};
};

// Rule 7: t + 1 over every vector taken or issued; wide ones are skewed.
TEST_F(EndTick, Read) {
  EXPECT_EQ(endOf(ReadOp{.slice = 4, .width = 1, .shape = {7, 1, 1, 0}}), 107);
  EXPECT_EQ(endOf(ReadOp{.slice = 4, .width = 16, .shape = {7, 1, 1, 0}}),
            107 + 15);
  ReadOp west{.slice = 4, .width = 16, .shape = {7, 1, 1, 0}};
  west.out.ref.direction = Direction::West;
  EXPECT_EQ(endOf(west), 107);
}
// ... a write t + write.
TEST_F(EndTick, Write) {
  EXPECT_EQ(endOf(WriteOp{.slice = 4, .width = 4, .shape = {7, 1, 1, 0}}),
            100 + 3 + 6 + m.timing.write);
}
// ... a send t + host; f32 vectors are 40 ticks apart.
TEST_F(EndTick, Send) {
  EXPECT_EQ(endOf(SendOp{.shape = {3, 40, 1, 0}}), 100 + 80 + m.timing.host);
}
TEST_F(EndTick, Matmul) {
  MatmulOp op{.tiles = 3, .inner = 2, .rows = 5, .period = 22};
  EXPECT_EQ(endOf(op), 100 + (3 * 2 - 1) * 22 + 4 + m.timing.matmul + 1);
}
TEST_F(EndTick, Vector) {
  VectorOp copy{.program = 0, .count = 9};
  EXPECT_EQ(endOf(copy), 100 + 8 + m.timing.alu + 1);
  VectorOp sum{.program = 1, .count = 8};
  EXPECT_EQ(endOf(sum), 100 + 7 + 2 * m.timing.alu + m.timing.reduce + 1);
}
TEST_F(EndTick, Permute) {
  PermuteOp map{.count = 6};
  EXPECT_EQ(endOf(map), 100 + 5 + m.timing.permute + 1);
  PermuteOp transpose{.kind = PermuteKind::Transpose, .width = 1,
                      .outWidth = 8, .rows = 64, .count = 3};
  EXPECT_EQ(endOf(transpose), 100 + 2 + m.timing.transpose + 64 / 8);
}
TEST_F(EndTick, TheLatestCounts) {
  EXPECT_EQ(endTick(m, programs,
                    {{0, 0, SendOp{}}, {100, 0, LoadOp{.shape = {4, 1, 1, 0}}}}),
            m.timing.host);
}

TEST(Lifetimes, FromFirstWriteToPastTheLastRead) {
  HandMade hand;
  Home middle = hand.temporary(16, 0, 0);
  hand.copy(HandMade::table(28, 0, 0), middle, 5);
  hand.copy(middle, hand.temporary(32, 1, 0), 5);
  auto s = listSchedule(hand.problem);
  ASSERT_TRUE(s);
  std::vector<SramRegion> regions(2);
  setLifetimes(hand.problem, *s, regions);
  // Slices 16 to 19 stand at 19 to 22: the vector leaves the VXM at 31 after
  // one alu latency and meets slice 19 first.
  Tick out = s->start[0] + hand.machine.timing.alu;
  EXPECT_EQ(regions[0].born, out + (31 - 22));
  // The read is skewed the other way and ends in slice 19, whose vectors are
  // read 5 ticks before they are there and pass the VXM 9 positions on.
  EXPECT_EQ(regions[0].dies,
            s->start[1] + 4 - (31 - 22) - hand.machine.timing.read + 1);
}

TEST(LowerBounds, BusiestIsTheVxm) {
  HandMade hand;
  for (uint32_t n = 0; n < 3; ++n) {
    hand.copy(HandMade::table(28 + 4 * n, 0, 0), hand.temporary(16, 0, 10 * n),
              10);
  }
  LowerBounds bounds = lowerBounds(hand.problem, 77);
  EXPECT_EQ(bounds.busiest, 30);
  EXPECT_EQ(bounds.criticalPath, 77);
}

} // namespace
} // namespace orrery::schedule
