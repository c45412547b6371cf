// Each ALU step, reduction and stream type against numerics.h.
#include "machine/numerics.h"
#include "simulator/function/Lanes.h"
#include "simulator/function/VectorValues.h"
#include "tests/simulator/TestChip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace orrery::sim::test {
namespace {

constexpr uint32_t kLanes = 64;

/// f32 rows as a burst.
class Rows final : public BurstValues {
public:
  explicit Rows(const std::vector<std::vector<float>> &rows) {
    for (const auto &row : rows) {
      planes.emplace_back(4 * kLanes);
      scatterF32(row.data(), kLanes, planes.back().data());
    }
  }
  void require(uint64_t, uint32_t) override {}
  const uint8_t *plane(uint64_t vector, uint32_t stream) const override {
    return planes[vector].data() + stream * kLanes;
  }

private:
  std::vector<std::vector<uint8_t>> planes;
};

Operands group(std::shared_ptr<BurstValues> values) {
  Operands operands;
  for (uint32_t k = 0; k < 4; ++k) {
    operands.push_back({values, k, 0});
  }
  return operands;
}

std::vector<std::vector<float>> randomRows(uint32_t count, float scale) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0, scale);
  std::vector<std::vector<float>> rows(count, std::vector<float>(kLanes));
  for (auto &row : rows) {
    for (float &x : row) {
      x = normal(random);
    }
  }
  return rows;
}

struct Unit {
  mutable BufferPool pool;
  VectorProgram program;
  StepRegisters registers{0, 1, kLanes};
  std::vector<std::vector<float>> a = randomRows(4, 3), b = randomRows(4, 2);

  explicit Unit(AluStep step, StreamType type = StreamType::F32) {
    program.inputs = {StreamType::F32, StreamType::F32};
    program.steps = {step};
    program.outputs = {{2, type, Reduction::None}};
  }
  VectorRun run() const {
    return VectorRun(
        program, registers, 3, {100, {uint32_t(a.size()), 1, 1, 0}},
        {group(std::make_shared<Rows>(a)), group(std::make_shared<Rows>(b))},
        pool);
  }
  std::vector<float> f32(uint64_t vector) const {
    VectorRun r = run();
    r.require(0, vector);
    const uint8_t *planes[4];
    for (uint32_t k = 0; k < 4; ++k) {
      planes[k] = r.plane(0, vector, k);
    }
    std::vector<float> row(kLanes);
    gatherF32(planes, kLanes, row.data());
    return row;
  }
};

AluStep stepOf(AluOp op) {
  AluStep s{};
  s.op = op;
  s.b = 1;
  return s;
}

template <class F> void expectElementwise(AluOp op, F f) {
  Unit unit(stepOf(op));
  auto row = unit.f32(3);
  for (size_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(row[i], f(unit.a[3][i], unit.b[3][i]));
  }
}

TEST(VectorOps, Elementwise) {
  expectElementwise(AluOp::Add, [](float x, float y) { return x + y; });
  expectElementwise(AluOp::Sub, [](float x, float y) { return x - y; });
  expectElementwise(AluOp::Mul, [](float x, float y) { return x * y; });
  expectElementwise(AluOp::Div, [](float x, float y) { return x / y; });
  expectElementwise(AluOp::Max, [](float x, float y) { return x < y ? y : x; });
  expectElementwise(AluOp::Exp,
                    [](float x, float) { return numerics::expExact(x); });
  expectElementwise(AluOp::Silu,
                    [](float x, float) { return numerics::silu(x); });
}

TEST(VectorOps, AddBitsAddsElementIndices) {
  Unit unit(stepOf(AluOp::AddBits));
  for (uint32_t i = 0; i < kLanes; ++i) {
    unit.a[0][i] = numerics::bitsToFloat(i);
    unit.b[0][i] = numerics::bitsToFloat(1000 * i);
  }
  auto row = unit.f32(0);
  for (uint32_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(numerics::floatToBits(row[i]), 1001 * i);
  }
  unit.a[0][0] = numerics::bitsToFloat(0xffffffffu);
  unit.b[0][0] = numerics::bitsToFloat(5);
  EXPECT_EQ(numerics::floatToBits(unit.f32(0)[0]), 4u);
}

TEST(VectorOps, SqrtOfWhatIsThere) {
  Unit unit(stepOf(AluOp::Sqrt));
  for (auto &row : unit.a) {
    for (float &x : row) {
      x = std::abs(x);
    }
  }
  auto row = unit.f32(1);
  for (size_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(row[i], std::sqrt(unit.a[1][i]));
  }
}

TEST(VectorOps, KeepBelowALimit) {
  AluStep s = stepOf(AluOp::Keep);
  s.bound = 70;
  s.immediate = -5;
  s.tile = {1, 2}; // vectors alternate between tile 0 and 1
  Unit unit(s);
  EXPECT_EQ(unit.f32(0), unit.a[0]);
  auto row = unit.f32(1);
  for (size_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(row[i], i < 6 ? unit.a[1][i] : -5);
  }
  // Causal: POS + token + 1 elements, token = vector / 2.
  s.bound = 0;
  s.position = true;
  s.token = {2, 2};
  Unit causal(s);
  causal.registers.position = 64;
  row = causal.f32(3); // tile 1, token 1: elements 64 .. 65
  for (size_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(row[i], i < 2 ? causal.a[3][i] : -5);
  }
}

TEST(VectorOps, WindowAndSplat) {
  AluStep s = stepOf(AluOp::Window);
  s.width = 16;
  s.tile = {1, 4};
  Unit window(s);
  auto row = window.f32(2);
  for (size_t i = 0; i < kLanes; ++i) {
    EXPECT_EQ(row[i], i >= 32 && i < 48 ? window.a[2][i] : 0);
  }
  s.op = AluOp::Splat;
  Unit splat(s);
  EXPECT_EQ(splat.f32(2), std::vector<float>(kLanes, splat.a[2][32]));
  s.op = AluOp::Immediate;
  s.immediate = 1.5f;
  EXPECT_EQ(Unit(s).f32(0), std::vector<float>(kLanes, 1.5f));
}

TEST(VectorOps, KvRows) {
  AluStep s = stepOf(AluOp::KvScale);
  s.width = 16;
  Unit scale(s);
  s.op = AluOp::KvCode;
  Unit code(s);
  auto scales = scale.f32(1), codes = code.f32(1);
  for (int base = 0; base < int(kLanes); base += 16) {
    int8_t q[16];
    uint16_t d;
    ASSERT_TRUE(numerics::quantizeKvRow(&code.a[1][size_t(base)], 16, q, &d));
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(scales[size_t(base + i)], numerics::halfToFloat(d));
      EXPECT_EQ(codes[size_t(base + i)], float(q[i]));
    }
  }
}

TEST(VectorOps, StreamTypes) {
  Unit half(stepOf(AluOp::Add), StreamType::F16);
  VectorRun run = half.run();
  run.require(0, 0);
  for (size_t i = 0; i < kLanes; ++i) {
    uint16_t expected = numerics::floatToHalf(half.a[0][i] + half.b[0][i]);
    EXPECT_EQ(run.plane(0, 0, 0)[i], uint8_t(expected));
    EXPECT_EQ(run.plane(0, 0, 1)[i], uint8_t(expected >> 8));
  }
  Unit a8(stepOf(AluOp::Add), StreamType::A8);
  VectorRun quantized = a8.run();
  quantized.require(0, 1);
  std::vector<float> sum(kLanes);
  for (size_t i = 0; i < kLanes; ++i) {
    sum[i] = a8.a[1][i] + a8.b[1][i];
  }
  for (size_t block = 0; block < kLanes / 32; ++block) {
    int8_t q[32];
    float d, found;
    ASSERT_TRUE(numerics::quantizeA8Block(&sum[32 * block], 32, q, &d));
    EXPECT_EQ(std::memcmp(quantized.plane(0, 1, 0) + 32 * block, q, 32), 0);
    std::memcpy(&found, quantized.plane(0, 1, 1) + 4 * block, 4);
    EXPECT_EQ(found, d);
  }
  for (size_t i = 4 * kLanes / 32; i < kLanes; ++i) {
    EXPECT_EQ(quantized.plane(0, 1, 1)[i], 0);
  }
}

/// A reduction of value 0 over groups of 2 vectors.
std::vector<float> reduced(const std::vector<std::vector<float>> &rows,
                           Reduction reduction, uint64_t vector = 1) {
  Unit unit(stepOf(AluOp::Add));
  unit.a = rows;
  unit.b.resize(rows.size(), std::vector<float>(kLanes));
  unit.program.outputs = {{0, StreamType::F32, reduction}};
  unit.program.group = 2;
  return unit.f32(vector);
}

TEST(VectorOps, Reductions) {
  auto rows = randomRows(4, 3);
  numerics::WideAccumulator wide;
  int64_t exact = 0;
  float best = rows[2][0];
  size_t bestElement = 0;
  for (size_t i = 0; i < 2 * kLanes; ++i) {
    float x = rows[2 + i / kLanes][i % kLanes];
    wide.add(x);
    ASSERT_TRUE(numerics::accumulate(exact, numerics::floatTerm(x)));
    if (x > best) {
      best = x;
      bestElement = i;
    }
  }
  auto all = [](float x) { return std::vector<float>(kLanes, x); };
  EXPECT_EQ(reduced(rows, Reduction::SumWide), all(wide.read()));
  EXPECT_EQ(reduced(rows, Reduction::SumExact),
            all(numerics::readAccumulator(exact)));
  EXPECT_EQ(reduced(rows, Reduction::Max), all(best));
  auto row = reduced(rows, Reduction::ArgMax);
  EXPECT_EQ(row[0], best);
  EXPECT_EQ(numerics::floatToBits(row[1]), bestElement);
  EXPECT_EQ(row[2], 0);
}

TEST(VectorOps, TiesGoToTheLowestIndex) {
  std::vector<std::vector<float>> rows(2, std::vector<float>(kLanes, -0.0f));
  rows[0][9] = 0.0f;
  rows[1][0] = 0.0f;
  auto row = reduced(rows, Reduction::ArgMax, 0);
  EXPECT_EQ(numerics::floatToBits(row[1]), 0u);
}

/// A row as ArgMax leaves it.
std::vector<float> candidate(float value, uint32_t element) {
  std::vector<float> row(kLanes, 0.0f);
  row[0] = value;
  row[1] = numerics::bitsToFloat(element);
  return row;
}

TEST(VectorOps, ArgBestChoosesAmongCandidates) {
  auto best = [](std::vector<std::vector<float>> rows) {
    return reduced(rows, Reduction::ArgBest, 0);
  };
  // Values decide, lane 7 of a row does not.
  auto high = candidate(-2, 900);
  high[7] = 50;
  EXPECT_EQ(best({candidate(-1, 900), high}), candidate(-1, 900));
  EXPECT_EQ(best({high, candidate(-1, 901)}), candidate(-1, 901));
  // Equal values: the lower index, as uint32; -0 equals +0.
  EXPECT_EQ(best({candidate(3, 0x7f000000), candidate(3, 5)}), candidate(3, 5));
  EXPECT_EQ(best({candidate(3, 5), candidate(3, 6)}), candidate(3, 5));
  auto zero = best({candidate(0.0f, 8), candidate(-0.0f, 4)});
  EXPECT_EQ(numerics::floatToBits(zero[0]), 0x80000000u);
  EXPECT_EQ(numerics::floatToBits(zero[1]), 4u);
  // NaN never wins; where all are, there is no answer.
  auto nan = candidate(std::nanf(""), 0);
  EXPECT_EQ(best({nan, candidate(-9, 2)}), candidate(-9, 2));
  EXPECT_THROW(best({nan, nan}), BadValue);
}

TEST(VectorOps, BadValuesAreNamed) {
  Unit unit(stepOf(AluOp::Div));
  unit.b[1][5] = 0;
  try {
    unit.f32(1);
    FAIL() << "infinity left the unit";
  } catch (const BadValue &bad) {
    EXPECT_EQ(bad.instruction, 3u);
    EXPECT_EQ(bad.due, 101);
    EXPECT_EQ(bad.found, "vector 1: output 0 is infinite in lane 5");
  }
  EXPECT_THROW(reduced({{std::vector<float>(kLanes, 1e8f)},
                        {std::vector<float>(kLanes, 1e8f)}},
                       Reduction::SumExact, 0),
               BadValue);
}

} // namespace
} // namespace orrery::sim::test
