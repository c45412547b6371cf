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
  ReadOp op;
  op.slice = 4;
  op.shape = {7, 1, 1, 0};
  EXPECT_EQ(endOf(op), 107);
  op.width = 16;
  EXPECT_EQ(endOf(op), 107 + 15);
  op.out.ref.direction = Direction::West;
  EXPECT_EQ(endOf(op), 107);
}
// ... a write t + write.
TEST_F(EndTick, Write) {
  WriteOp op;
  op.slice = 4;
  op.width = 4;
  op.shape = {7, 1, 1, 0};
  EXPECT_EQ(endOf(op), 100 + 3 + 6 + m.timing.write);
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
  VectorOp op;
  op.count = 9;
  EXPECT_EQ(endOf(op), 100 + 8 + m.timing.alu + 1);
  op.program = 1;
  op.count = 8;
  EXPECT_EQ(endOf(op), 100 + 7 + 2 * m.timing.alu + m.timing.reduce + 1);
}
TEST_F(EndTick, Permute) {
  PermuteOp op;
  op.count = 6;
  EXPECT_EQ(endOf(op), 100 + 5 + m.timing.permute + 1);
  op.kind = PermuteKind::Transpose;
  op.outWidth = 8;
  op.rows = 64;
  op.count = 3;
  EXPECT_EQ(endOf(op), 100 + 2 + m.timing.transpose + 64 / 8);
}
TEST_F(EndTick, TheLatestCounts) {
  EXPECT_EQ(
      endTick(m, programs,
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
