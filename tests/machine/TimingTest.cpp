// The closed forms that the public papers give, and those of the contract.
#include "machine/Timing.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

Machine v1() { return *loadMachine("lpu-v1"); }

VectorProgram steps(size_t count, AluOp op = AluOp::Add) {
  VectorProgram program;
  program.inputs = {StreamType::F32};
  program.steps.assign(count, AluStep{op});
  program.outputs = {{0, StreamType::F32}};
  return program;
}

TEST(Timing, CyclesToInstallAFullPlane) {
  EXPECT_EQ(tileCycles(WeightFormat::Q8, 320, 16), 22u); // 320 + 20 vectors
  EXPECT_EQ(tileCycles(WeightFormat::Q4, 320, 16), 12u); // 160 + 20: 11.25
  EXPECT_EQ(tileCycles(WeightFormat::I8, 320, 16), 20u);
  EXPECT_EQ(tileCycles(WeightFormat::F16, 320, 16), 40u);
}

TEST(Timing, CyclesRoundUp) {
  EXPECT_EQ(tileVectors(WeightFormat::Q8, 16), 17u);
  EXPECT_EQ(tileCycles(WeightFormat::Q8, 16, 16), 2u);
  EXPECT_EQ(tileCycles(WeightFormat::I8, 1, 16), 1u);
  EXPECT_EQ(tileCycles(WeightFormat::I8, 17, 16), 2u);
}

TEST(Timing, WeightBandwidthIsBoundByStreams) {
  Machine m = v1();
  int64_t bytesPerCycle =
      int64_t(m.geometry().planes()) * m.matrix.installStreams * m.lanes;
  EXPECT_EQ(bytesPerCycle, 20'480);
  EXPECT_NEAR(double(bytesPerCycle) * m.clockMhz * 1e6, 18.43e12, 0.01e12);
}

TEST(Timing, V1HoldsTwoHundredAndTwentyMebibytes) {
  EXPECT_EQ(v1().sramBytes(), Bytes(220) << 20);
}

TEST(Timing, AVectorTakesAsManyTicksAsRoundsThroughTheAlus) {
  Machine m = v1();
  EXPECT_EQ(vectorInterval(m, steps(0)), 1u);
  EXPECT_EQ(vectorInterval(m, steps(1)), 1u);
  EXPECT_EQ(vectorInterval(m, steps(16)), 1u);
  EXPECT_EQ(vectorInterval(m, steps(17)), 2u);
  EXPECT_EQ(vectorInterval(m, steps(33)), 3u);
}

TEST(Timing, LatencyAddsUpTheChain) {
  Machine m = v1();
  VectorOutput plain{0, StreamType::F32};
  EXPECT_EQ(vectorLatency(m, steps(0), plain), 4);
  EXPECT_EQ(vectorLatency(m, steps(3), plain), 4 + 3 * 4);
  EXPECT_EQ(vectorLatency(m, steps(3, AluOp::Silu), plain), 4 + 3 * 10);
  EXPECT_EQ(vectorLatency(m, steps(1, AluOp::KvCode), plain), 4 + 8);
  VectorOutput quantized{0, StreamType::A8};
  EXPECT_EQ(vectorLatency(m, steps(0), quantized), 4 + 8);
  VectorOutput sum{0, StreamType::F32, Reduction::SumWide};
  EXPECT_EQ(vectorLatency(m, steps(0), sum), 4 + 20);
}

TEST(Timing, AReductionLeavesAfterTheLastVectorOfItsGroup) {
  Machine m = v1();
  VectorProgram program = steps(17); // two ticks a vector
  program.group = 5;
  VectorOutput sum{0, StreamType::F32, Reduction::SumWide};
  EXPECT_EQ(vectorOutputStart(m, program, sum), 4 * 2 + 4 + 17 * 4 + 20);
  EXPECT_EQ(vectorOutputShape(m, program, sum, 20), (BurstShape{4, 10, 1, 0}));
  EXPECT_EQ(vectorInputShape(m, program, 20), (BurstShape{20, 2, 1, 0}));
}

TEST(Timing, MatmulResultsFollowTheLastInnerPass) {
  Machine m = v1();
  MatmulOp op;
  op.tiles = 3;
  op.inner = 4;
  op.rows = 2;
  op.period = 22;
  EXPECT_EQ(matmulOutputStart(m, op), 3 * 22 + 36);
  EXPECT_EQ(matmulOutputShape(m, op), (BurstShape{2, 1, 3, 88}));
  op.format = WeightFormat::F16;
  EXPECT_EQ(matmulOutputShape(m, op), (BurstShape{2, 2, 3, 88}));
}

TEST(Timing, TransposePutsOutAllByteVectors) {
  Machine m = v1();
  PermuteOp op;
  op.kind = PermuteKind::Transpose;
  op.width = 2;
  op.outWidth = 16;
  op.rows = 65; // 130 byte vectors
  op.count = 7;
  EXPECT_EQ(permuteOutputShape(op), (BurstShape{9, 1, 1, 0}));
  EXPECT_EQ(permuteOutputStart(m, op), 6 + 20);
}

TEST(Timing, VectorsCrossALinkOneAfterAnother) {
  Machine m = v1(); // 24 ticks a stream, 217 of latency
  // Sent every tick: the link is what they wait for.
  LinkCrossing dense = crossLink(m, 100, {3, 1, 1, 0}, 2, 0);
  EXPECT_EQ(dense.arrived,
            (std::vector<Tick>{148 + 217, 196 + 217, 244 + 217}));
  EXPECT_EQ(dense.linkFree, 244);
  // In two runs: the second finds the link free.
  LinkCrossing sparse = crossLink(m, 100, {2, 1, 2, 50}, 1, 0);
  EXPECT_EQ(sparse.arrived,
            (std::vector<Tick>{124 + 217, 148 + 217, 174 + 217, 198 + 217}));
  // After another burst.
  LinkCrossing next = crossLink(m, 100, {1, 1, 1, 0}, 4, 1000);
  EXPECT_EQ(next.arrived, (std::vector<Tick>{1096 + 217}));
  EXPECT_EQ(next.linkFree, 1096);
}

TEST(BurstShape, TimesOfVectors) {
  BurstShape shape{3, 2, 2, 10};
  EXPECT_EQ(shape.count(), 6u);
  EXPECT_EQ(shape.at(0), 0);
  EXPECT_EQ(shape.at(2), 4);
  EXPECT_EQ(shape.at(3), 10);
  EXPECT_EQ(shape.span(), 14);
}

TEST(AddressPattern, ThreeNestedLoops) {
  AddressPattern a;
  a.base = 100;
  a.extent = {2, 3, 2};
  a.step = {1, 10, -50};
  EXPECT_EQ(a.count(), 12u);
  EXPECT_EQ(a.at(0), 100);
  EXPECT_EQ(a.at(1), 101);
  EXPECT_EQ(a.at(2), 110);
  EXPECT_EQ(a.at(5), 121);
  EXPECT_EQ(a.at(6), 50);
  EXPECT_EQ(a.at(11), 71);
}

} // namespace
} // namespace orrery
