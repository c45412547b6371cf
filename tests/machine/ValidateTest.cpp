// One negative test for each thing that validateProgram asks of a program's
// header and tables; InstructionCheckTest.cpp has those of instructions.
#include "tests/machine/ValidProgram.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery {
namespace {

using testing::errorAfter;

TEST(Validate, TheProgramOfTheseTestsIsValid) {
  EXPECT_EQ(errorAfter([](Program &) {}), "no error");
}

TEST(Validate, ErrorsNameTheInstruction) {
  EXPECT_EQ(errorAfter([](Program &p) {
              std::get<ReadOp>(p.instructions[0].operation).bank = 2;
            }),
            "instruction 0 (read, tick 100, layer 3 attn_q): bank: expected 0 "
            "to 1, found 2");
}

//===-- Header ------------------------------------------------------------===//

TEST(Validate, Header) {
  EXPECT_EQ(errorAfter([](Program &p) { p.tokens = 0; }),
            "tokens: expected 1 to 64, found 0");
  EXPECT_EQ(errorAfter([](Program &p) { p.tokens = 65; }),
            "tokens: expected 1 to 64, found 65");
  EXPECT_EQ(errorAfter([](Program &p) { p.bucket = 1; }),
            "tokens: expected 1, found 2");
  EXPECT_EQ(errorAfter([](Program &p) { p.bucket = 257; }),
            "bucket: expected 1 to 256, found 257");
  EXPECT_EQ(errorAfter([](Program &p) { p.bucket = 0; }),
            "bucket: expected 1 to 256, found 0");
  EXPECT_EQ(errorAfter([](Program &p) { p.context = 1 << 25; }),
            "context: expected 1 to 16777216, found 33554432");
  EXPECT_EQ(errorAfter([](Program &p) { p.inputVectors = (1 << 24) + 1; }),
            "input vectors: expected 0 to 16777216, found 16777217");
  EXPECT_EQ(errorAfter([](Program &p) { p.predictedTicks = -1; }),
            "predicted ticks: expected 0 to 281474976710656, found -1");
  EXPECT_EQ(errorAfter([](Program &p) { p.modelName.resize(5000); }),
            "model name: bytes: expected 0 to 4096, found 5000");
}

TEST(Validate, Logits) {
  EXPECT_EQ(errorAfter([](Program &p) { p.logits.slice = 53; }),
            "logits: slice: expected 0 to 52, found 53");
  EXPECT_EQ(errorAfter([](Program &p) { p.logits.bank = 2; }),
            "logits: bank: expected 0 to 1, found 2");
  EXPECT_EQ(errorAfter([](Program &p) { p.logits.base = 4093; }),
            "logits: base: expected 0 to 4092, found 4093");
  EXPECT_EQ(errorAfter([](Program &p) { p.logits.vectors = 0; }),
            "logits: vectors: expected 1 to 4096, found 0");
  EXPECT_EQ(errorAfter([](Program &p) { p.logits.vocab = 64; }),
            "logits: vocab: expected 65 to 128, found 64");
  EXPECT_EQ(errorAfter([](Program &p) { p.logits.vocab = 129; }),
            "logits: vocab: expected 65 to 128, found 129");
}

TEST(Validate, ProgramsWithoutLogits) {
  EXPECT_EQ(errorAfter([](Program &p) { p.logits = {}; }), "no error");
  EXPECT_EQ(errorAfter([](Program &p) {
              p.logits = {};
              p.logits.base = 1;
            }),
            "logits: vectors: expected 1 to 4096, found 0");
}

//===-- Regions -----------------------------------------------------------===//

std::string regionError(const std::function<void(SramRegion &)> &edit) {
  return errorAfter([&](Program &p) { edit(p.regions[0]); });
}

TEST(Validate, Regions) {
  EXPECT_EQ(regionError([](auto &r) { r.name.clear(); }),
            "region ``: name: bytes: expected 1 to 4096, found 0");
  EXPECT_EQ(regionError([](auto &r) { r.kind = RegionKind(5); }),
            "region `w`: kind: expected 0 to 4, found 5");
  EXPECT_EQ(regionError([](auto &r) { r.slice = 56; }),
            "region `w`: slice: expected 0 to 55, found 56");
  EXPECT_EQ(regionError([](auto &r) { r.width = 57; }),
            "region `w`: width: expected 1 to 56, found 57");
  EXPECT_EQ(regionError([](auto &r) { r.bank = 2; }),
            "region `w`: bank: expected 0 to 1, found 2");
  EXPECT_EQ(regionError([](auto &r) { r.base = 4096; }),
            "region `w`: base: expected 0 to 4095, found 4096");
  EXPECT_EQ(regionError([](auto &r) { r.base = 4000; }),
            "region `w`: length: expected 1 to 96, found 100");
  EXPECT_EQ(regionError([](auto &r) { r.length = 0; }),
            "region `w`: length: expected 1 to 4096, found 0");
  EXPECT_EQ(regionError([](auto &r) { r.born = 1; }),
            "region `w`: born: expected 0, found 1");
  EXPECT_EQ(regionError([](auto &r) {
              r.kind = RegionKind::Temporary;
              r.born = r.dies = 7;
            }),
            "region `w`: dies: expected 8 to 281474976710657, found 7");
}

TEST(Validate, RegionsThatOverlap) {
  EXPECT_EQ(errorAfter([](Program &p) {
              p.regions.push_back({"kv", RegionKind::Kv, 3, 1, 0, 99, 1, 0, 0});
            }),
            "region `kv`: addresses: expected none of another region, found "
            "some of `w`");
}

//===-- Vector programs and lane maps -------------------------------------===//

std::string vectorError(const std::function<void(VectorProgram &)> &edit) {
  return errorAfter([&](Program &p) { edit(p.vectorPrograms[0]); });
}
std::string stepError(const std::function<void(AluStep &)> &edit) {
  return vectorError([&](VectorProgram &v) { edit(v.steps[0]); });
}

TEST(Validate, VectorPrograms) {
  const std::string at = "vector program 0: ";
  EXPECT_EQ(vectorError([](auto &v) { v.inputs.resize(9); }),
            at + "inputs: expected 0 to 8, found 9");
  EXPECT_EQ(vectorError([](auto &v) { v.inputs[0] = StreamType::A8; }),
            at + "input type: expected f32, f16, i8 or sum, found 3");
  EXPECT_EQ(vectorError([](auto &v) { v.outputs.clear(); }),
            at + "outputs: expected 1 to 4, found 0");
  EXPECT_EQ(vectorError([](auto &v) { v.outputs.resize(5); }),
            at + "outputs: expected 1 to 4, found 5");
  EXPECT_EQ(vectorError([](auto &v) { v.group = 0; }),
            at + "group: expected 1 to 67108863, found 0");
  EXPECT_EQ(vectorError([](auto &v) { v.steps.resize(255); }),
            at + "values: expected 1 to 256, found 257");
  EXPECT_EQ(vectorError([](auto &v) { v.outputs[0].value = 4; }),
            at + "output value: expected 0 to 3, found 4");
  EXPECT_EQ(vectorError([](auto &v) { v.outputs[0].type = StreamType(5); }),
            at + "output type: expected 0 to 4, found 5");
  EXPECT_EQ(vectorError([](auto &v) { v.outputs[0].type = StreamType::F16; }),
            at +
                "output type: expected f32 of a reduction, or sum of add_sums, "
                "found 1");
  EXPECT_EQ(vectorError([](auto &v) { v.outputs[0].reduction = Reduction(7); }),
            at + "output reduction: expected 0 to 6, found 7");
  EXPECT_EQ(
      vectorError([](auto &v) { v.outputs[0].reduction = Reduction::ArgBest; }),
      "no error");
}

// Accumulators are added, and nothing else is.
TEST(Validate, AccumulatorsInVectorPrograms) {
  const std::string only = "vector program 0: accumulators: expected all of "
                           "them, and no other value, added by add_sums, found "
                           "another use";
  auto sums = [](VectorProgram &v) {
    v = {{StreamType::Sum},
         {},
         {{0, StreamType::F32, Reduction::AddSums}},
         v.group};
  };
  auto error = [&](auto change) {
    return vectorError([&](auto &v) {
      sums(v);
      change(v);
    });
  };
  EXPECT_EQ(error([](auto &v) {
              v.steps = {{.op = AluOp::Sqrt}};
              v.outputs.push_back({1, StreamType::F32});
            }),
            only);
  EXPECT_EQ(error([](auto &v) { v.inputs[0] = StreamType::F32; }), only);
  EXPECT_EQ(error([](auto &v) { v.outputs.push_back({0, StreamType::F32}); }),
            only);
  EXPECT_EQ(error([](auto &v) { v.outputs[0] = {0, StreamType::Sum}; }), only);
  EXPECT_EQ(error([](auto &v) {
              v.outputs[0] = {0, StreamType::Sum, Reduction::SumExact};
            }),
            "vector program 0: output type: expected f32 of a reduction, or "
            "sum of add_sums, found 4");
}

TEST(Validate, AluSteps) {
  const std::string at = "vector program 0: step ";
  EXPECT_EQ(stepError([](auto &s) { s.op = AluOp(15); }),
            at + "op: expected 0 to 14, found 15");
  EXPECT_EQ(stepError([](auto &s) { s.op = AluOp::AddBits; }), "no error");
  EXPECT_EQ(stepError([](auto &s) {
              s = {.op = AluOp::AddBits, .b = 2}; // itself
            }),
            at + "b: expected 0 to 1, found 2");
  EXPECT_EQ(stepError([](auto &s) { s.a = 2; }), // itself
            at + "a: expected 0 to 1, found 2");
  EXPECT_EQ(stepError([](auto &s) { s.b = 2; }),
            at + "b: expected 0 to 1, found 2");
  EXPECT_EQ(stepError([](auto &s) { s.op = AluOp::Exp; }), // b unused
            at + "b: expected 0, found 1");
  EXPECT_EQ(stepError([](auto &s) { s.immediate = 1; }),
            at + "immediate: expected 0, as the step has no use for it, found "
                 "1.000000");
  EXPECT_EQ(stepError([](auto &s) {
              s = {.op = AluOp::Immediate, .immediate = NAN};
            }),
            at + "immediate: expected a number, found nan");
  EXPECT_EQ(stepError([](auto &s) { s.bound = 9; }),
            at + "bound: expected 0, found 9");
  EXPECT_EQ(stepError([](auto &s) { s.position = true; }),
            at + "position: expected 0, found 1");
  EXPECT_EQ(stepError([](auto &s) { s.width = 1; }),
            at + "width: expected 0, found 1");
  EXPECT_EQ(stepError([](auto &s) { s = {.op = AluOp::Window}; }),
            at + "width: expected 1 to 64, found 0");
  EXPECT_EQ(stepError([](auto &s) { s.token.divide = 0; }),
            at + "token.divide: expected 1 to 4294967295, found 0");
  EXPECT_EQ(stepError([](auto &s) { s.token.modulo = 0; }),
            at + "token.modulo: expected 1 to 4294967295, found 0");
  EXPECT_EQ(stepError([](auto &s) { s.tile.divide = 0; }),
            at + "tile.divide: expected 1 to 4294967295, found 0");
  EXPECT_EQ(stepError([](auto &s) { s.tile.modulo = 0; }),
            at + "tile.modulo: expected 1 to 4294967295, found 0");
  EXPECT_EQ(stepError([](auto &s) { s.token.divide = 2; }),
            at + "token: expected the default, as the step has no use for it, "
                 "found another");
  EXPECT_EQ(stepError([](auto &s) { s.tile.modulo = 2; }),
            at + "tile: expected the default, as the step has no use for it, "
                 "found another");
}

TEST(Validate, LaneMaps) {
  EXPECT_EQ(errorAfter([](Program &p) { p.laneMaps[0].resize(63); }),
            "lane map 0: entries: expected 64, found 63");
  EXPECT_EQ(errorAfter([](Program &p) { p.laneMaps[0][5] = 64; }),
            "lane map 0: lane: expected 0 to 63, found 64");
  EXPECT_EQ(errorAfter([](Program &p) { p.laneMaps[0][5] = 63; }), "no error");
}

} // namespace
} // namespace orrery
