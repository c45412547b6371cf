// Append and attention of one token of each of several sequences that share a
// pool: each row as if its sequence were alone, bit for bit.
#include "tests/gpu-reference/kernels/SharedPool.h"

namespace orrery::gpu::ORRERY_GPU {
namespace {

using Shape = AttentionShape;

class BatchedAttention : public testing::TestWithParam<Shape> {};

// Sequences grow in turns, so that their pages lie between one another's; some
// end, and others take their pages, which still hold NaN rows.
TEST_P(BatchedAttention, EachRowAsItsSequenceAlone) {
  const Shape shape = GetParam();
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OrderScope scope(seed);
    std::mt19937 random(seed);
    constexpr int32_t kRoom = 160;
    const int32_t pagePositions = random() % 2 ? 32 : 64;
    SharedPool shared(shape, pagePositions, 40, kRoom, random);
    const size_t sequences = 1 + random() % 6;
    for (size_t i = 0; i < sequences; ++i) {
      shared.open();
    }
    for (int turn = 0; turn < 8; ++turn) {
      SharedPool::Alone &one = shared.alone[random() % sequences];
      shared.grow(one, int32_t(1 + random() % 15));
    }
    for (int step = 0; step < 4; ++step) {
      if (step == 2) {
        shared.close(random() % sequences);
        shared.grow(shared.open(), int32_t(1 + random() % 40));
      }
      const auto [found, expected] =
          shared.step(32 * int32_t(random() % 4),
                      int32_t(1 + random() % uint32_t(sequences)));
      expectSame(found, expected, shape.heads * shape.headDim);
      check(shared.pages.verify());
      ASSERT_FALSE(HasFailure()) << "step " << step;
    }
  }
}

// So that the test above is known to find it.
TEST_P(BatchedAttention, SwappedTablesAreFound) {
  const Shape shape = GetParam();
  std::mt19937 random(9);
  SharedPool shared(shape, 32, 8, 64, random);
  for (int i = 0; i < 2; ++i) {
    shared.grow(shared.open(), 33);
  }
  const auto right = shared.step(32, 2);
  expectSame(right.found, right.expected, shape.heads * shape.headDim);
  const auto swapped = shared.step(32, 2, {1, 0});
  EXPECT_NE(swapped.found.values, swapped.expected);
}

// A row's fault is its own: the others do not see it.
TEST_P(BatchedAttention, AFaultIsOfOneRow) {
  const Shape shape = GetParam();
  std::mt19937 random(4);
  SharedPool shared(shape, 32, 16, 64, random);
  for (int i = 0; i < 4; ++i) {
    shared.grow(shared.open(), 10 + 7 * i);
  }
  shared.spoiltRow = 2;
  const auto [found, expected] = shared.step(32, 3);
  const int32_t width = shape.heads * shape.headDim;
  const auto fault = firstFault(expected, width);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->row, 2u);
  expectSame(found, expected, width);
}

INSTANTIATE_TEST_SUITE_P(Shapes, BatchedAttention,
                         testing::Values(Shape{4, 2, 8, KvFormat::Q8},
                                         Shape{3, 1, 24, KvFormat::Q8},
                                         Shape{2, 2, 40, KvFormat::Q8},
                                         Shape{9, 1, 33, KvFormat::Q8},
                                         Shape{4, 2, 8, KvFormat::Q4},
                                         Shape{6, 3, 100, KvFormat::Q4},
                                         Shape{2, 2, 40, KvFormat::F16},
                                         Shape{9, 1, 80, KvFormat::F16}));

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
