// Accumulators that are not read out: what the matrix unit leaves, and their
// sum in the vector unit.
#include "simulator/function/Lanes.h"
#include "simulator/function/VectorValues.h"
#include "tests/simulator/MatrixPath.h"

#include <gtest/gtest.h>

namespace orrery::sim::test {
namespace {

constexpr uint32_t kLanes = 64;
using SumRows = std::vector<std::vector<int64_t>>;

/// Accumulators as a burst, a row a vector.
class Sums final : public BurstValues {
public:
  explicit Sums(const SumRows &rows) : bytes(rows.size() * 8 * kLanes) {
    for (size_t r = 0; r < rows.size(); ++r) {
      scatterSums(rows[r].data(), kLanes, bytes.data() + r * 8 * kLanes);
    }
  }
  void require(uint64_t, uint32_t) override {}
  const uint8_t *plane(uint64_t vector, uint32_t stream) const override {
    return bytes.data() + (vector * 8 + stream) * kLanes;
  }

private:
  std::vector<uint8_t> bytes;
};

/// The bytes of result `vector` of AddSums over groups of 2.
std::vector<uint8_t> added(const SumRows &rows, StreamType type,
                           uint64_t vector) {
  BufferPool pool;
  VectorProgram program{
      {StreamType::Sum}, {}, {{0, type, Reduction::AddSums}}, 2};
  auto values = std::make_shared<Sums>(rows);
  Operands operands;
  for (uint32_t k = 0; k < 8; ++k) {
    operands.push_back({values, k, 0});
  }
  VectorRun run(program, {0, 1, kLanes}, 3,
                {100, {uint32_t(rows.size()), 1, 1, 0}}, {operands}, pool);
  run.require(0, vector);
  std::vector<uint8_t> out;
  for (uint32_t k = 0; k < uint32_t(streamsOf(type)); ++k) {
    const uint8_t *plane = run.plane(0, vector, k);
    out.insert(out.end(), plane, plane + kLanes);
  }
  return out;
}

// The greater part cancels: rounded before, nothing of the rest would be left.
TEST(PartialSums, AreAddedAsIntegers) {
  SumRows rows(4, std::vector<int64_t>(kLanes));
  std::vector<int64_t> whole(kLanes);
  std::vector<float> read(kLanes);
  for (size_t i = 0; i < kLanes; ++i) {
    int64_t odd = i % 2 ? 1 : -1;
    rows[2][i] = (int64_t(1) << 61) + int64_t(i);
    rows[3][i] = -(int64_t(1) << 61) + 3 * odd * int64_t(i);
    whole[i] = rows[2][i] + rows[3][i];
    read[i] = numerics::readAccumulator(whole[i]);
  }
  std::vector<uint8_t> expected(8 * kLanes);
  scatterSums(whole.data(), kLanes, expected.data());
  EXPECT_EQ(added(rows, StreamType::Sum, 1), expected);
  expected.resize(4 * kLanes);
  scatterF32(read.data(), kLanes, expected.data());
  EXPECT_EQ(added(rows, StreamType::F32, 1), expected);
}

TEST(PartialSums, ThatLeaveTheInt64AreNamed) {
  SumRows rows(2, std::vector<int64_t>(kLanes, 1));
  for (int64_t sign : {1, -1}) {
    rows[0][5] = rows[1][5] = sign * ((int64_t(1) << 62) - 1);
    EXPECT_EQ(added(rows, StreamType::Sum, 0).size(), 8u * kLanes);
    rows[0][5] = rows[1][5] = sign * ((int64_t(1) << 62) + 1);
    try {
      added(rows, StreamType::Sum, 0);
      ADD_FAILURE() << "nothing thrown";
    } catch (const BadValue &bad) {
      EXPECT_EQ(bad.found, "vector 1: the exact sum in lane 5 leaves the "
                           "accumulator's range of +-2^27");
      EXPECT_EQ(bad.due, 101);
    }
  }
  rows[0][5] = rows[1][5] = 1;
  rows[0][9] = numerics::kTermOverflowHigh; // what overflowed before
  EXPECT_THROW(added(rows, StreamType::F32, 0), BadValue);
}

void expectSums(MatrixShape shape) {
  shape.sums = true;
  MatrixPath chip(shape);
  Simulator s = chip.simulator();
  auto result = s.run(chip.program, chip.input);
  ASSERT_TRUE(result) << result.error().message;
  for (uint32_t n = 0; n < shape.tiles; ++n) {
    for (uint32_t m = 0; m < shape.rows; ++m) {
      ASSERT_EQ(chip.sums(s.sram(), n, m), chip.wantedSums(n, m))
          << "tile " << n << " row " << m;
    }
  }
  EXPECT_EQ(chip.timingError(), "");
}

TEST(PartialSums, OfQ8) {
  expectSums({WeightFormat::Q8, 64, 16, 64, 2, 2, 2, RegionKind::Weight});
}
TEST(PartialSums, OfQ4) {
  expectSums({WeightFormat::Q4, 64, 0, 48, 2, 3, 3, RegionKind::Weight});
}
TEST(PartialSums, OfF16) {
  expectSums({WeightFormat::F16, 32, 5, 29, 2, 2, 3, RegionKind::Weight});
}

// Half of what leaves would be no accumulators.
TEST(PartialSums, TakeEightStreams) {
  MatrixShape shape;
  shape.sums = true;
  MatrixPath chip(shape);
  chip.op<MatmulOp>(chip.matmul).sums = false;
  EXPECT_NE(chip.timingError(), "");
}

} // namespace
} // namespace orrery::sim::test
