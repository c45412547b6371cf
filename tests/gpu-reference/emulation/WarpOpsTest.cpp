// Shuffles, votes and reductions against loops over the lanes, for masks that
// are parts of a warp, too.
#include "gpu-reference/Buffer.h"
#include "tests/gpu-reference/Orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace orrery::gpu::emulated {
namespace {

constexpr int kLanes = 32;

/// What each lane got.
struct Results {
  long long indexed, exchanged;
  unsigned down, up;
  float part;
  unsigned ballot, sum, lowest, highest, either, both;
  int lowestSigned, highestSigned;
  int any, all;
};

/// Lanes of `mask` do everything, the others nothing.
__global__ void everythingKernel(uint32_t mask, const int *x,
                                 Results *results) {
  const unsigned lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) {
    return;
  }
  const int mine = x[lane];
  Results r{};
  r.indexed = __shfl_sync(mask, (long long)(mine) << 20, mine);
  r.exchanged = __shfl_xor_sync(mask, (long long)(mine) << 21, 3);
  r.down = __shfl_down_sync(mask, unsigned(mine), 2);
  r.up = __shfl_up_sync(mask, unsigned(mine), 5);
  r.part = __shfl_sync(mask, float(mine), 1, 8);
  r.ballot = __ballot_sync(mask, mine & 1);
  r.any = __any_sync(mask, mine > 1000);
  r.all = __all_sync(mask, mine > -1000);
  r.sum = __reduce_add_sync(mask, unsigned(mine));
  r.lowest = __reduce_min_sync(mask, unsigned(mine));
  r.highest = __reduce_max_sync(mask, unsigned(mine));
  r.lowestSigned = __reduce_min_sync(mask, mine);
  r.highestSigned = __reduce_max_sync(mask, mine);
  r.either = __reduce_or_sync(mask, unsigned(mine));
  r.both = __reduce_and_sync(mask, unsigned(mine));
  results[lane] = r;
}

class Everything {
public:
  Everything(uint32_t mask, std::vector<int> x) : mask(mask), x(std::move(x)) {}

  std::vector<Results> run() const {
    auto in = Buffer<int>::copyOf(x, "x");
    auto out = Buffer<Results>::allocate(kLanes, "results");
    EXPECT_TRUE(in && out);
    ORRERY_LAUNCH(everythingKernel, dim3(1), dim3(kLanes), 0, nullptr, mask,
                  in->data(), out->data());
    EXPECT_TRUE(launchStatus("everything"));
    return *out->read();
  }

  void check(const std::vector<Results> &results) const {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (has(lane)) {
        SCOPED_TRACE(lane);
        checkShuffles(lane, results[size_t(lane)]);
        checkVotes(results[size_t(lane)]);
      }
    }
  }

private:
  bool has(int lane) const { return (mask >> lane & 1) != 0; }

  /// `got` is f(value of lane `source`), if that takes part.
  template <class Value>
  void expectFrom(int source, Value got, Value (*function)(int)) const {
    if (has(source)) {
      EXPECT_EQ(got, function(x[size_t(source)])) << "from lane " << source;
    }
  }

  void checkShuffles(int lane, const Results &r) const {
    using Long = long long;
    expectFrom<Long>(x[size_t(lane)] & 31, r.indexed,
                     [](int v) { return Long(v) << 20; });
    expectFrom<Long>(lane ^ 3, r.exchanged,
                     [](int v) { return Long(v) << 21; });
    const auto same = [](int v) { return unsigned(v); };
    expectFrom<unsigned>(lane + 2 < 32 ? lane + 2 : lane, r.down, same);
    expectFrom<unsigned>(lane >= 5 ? lane - 5 : lane, r.up, same);
    expectFrom<float>(lane / 8 * 8 + 1, r.part, [](int v) { return float(v); });
  }

  void checkVotes(const Results &r) const {
    Results e{};
    e.all = 1;
    e.both = ~0u;
    e.lowest = ~0u;
    e.lowestSigned = INT32_MAX;
    e.highestSigned = INT32_MIN;
    for (int lane = 0; lane < kLanes; ++lane) {
      if (has(lane)) {
        const int value = x[size_t(lane)];
        e.ballot |= unsigned(value & 1) << lane;
        e.any |= value > 1000;
        e.all &= value > -1000;
        e.sum += unsigned(value);
        e.lowest = std::min(e.lowest, unsigned(value));
        e.highest = std::max(e.highest, unsigned(value));
        e.lowestSigned = std::min(e.lowestSigned, value);
        e.highestSigned = std::max(e.highestSigned, value);
        e.either |= unsigned(value);
        e.both &= unsigned(value);
      }
    }
    EXPECT_EQ(r.ballot, e.ballot);
    EXPECT_EQ(r.any, e.any);
    EXPECT_EQ(r.all, e.all);
    EXPECT_EQ(r.sum, e.sum);
    EXPECT_EQ(r.lowest, e.lowest);
    EXPECT_EQ(r.highest, e.highest);
    EXPECT_EQ(r.lowestSigned, e.lowestSigned);
    EXPECT_EQ(r.highestSigned, e.highestSigned);
    EXPECT_EQ(r.either, e.either);
    EXPECT_EQ(r.both, e.both);
  }

  uint32_t mask;
  std::vector<int> x;
};

TEST(WarpOps, EqualLoopsOverTheLanes) {
  std::mt19937 random(20);
  std::uniform_int_distribution<int> numbers(-1500, 1500);
  std::vector<uint32_t> masks = {~0u, 1u, 1u << 31, 0x0000ffffu};
  for (int i = 0; i < 12; ++i) {
    masks.push_back(uint32_t(random()));
  }
  for (uint32_t mask : masks) {
    SCOPED_TRACE("seed 20, mask " + std::to_string(mask));
    std::vector<int> x(kLanes);
    for (int &value : x) {
      value = numbers(random);
    }
    const Everything everything(mask, x);
    inSeveralOrders([&] { everything.check(everything.run()); });
  }
}

__global__ void partsKernel(unsigned *out) {
  // Two halves of the warp meet apart, as often as they like.
  const unsigned mask = threadIdx.x < 16 ? 0xffffu : 0xffff0000u;
  unsigned sum = 0;
  for (unsigned i = 0; i < (threadIdx.x < 16 ? 3u : 7u); ++i) {
    sum += __reduce_add_sync(mask, threadIdx.x);
  }
  out[threadIdx.x] = sum;
}

TEST(WarpOps, PartsOfAWarpMeetApart) {
  inSeveralOrders([] {
    auto out = Buffer<unsigned>::allocate(kLanes, "out");
    ORRERY_LAUNCH(partsKernel, dim3(1), dim3(kLanes), 0, nullptr, out->data());
    ASSERT_TRUE(launchStatus("parts"));
    const std::vector<unsigned> sums = *out->read();
    EXPECT_EQ(sums[0], 3u * 120);
    EXPECT_EQ(sums[15], 3u * 120);
    EXPECT_EQ(sums[16], 7u * (120 + 256));
    EXPECT_EQ(sums[31], 7u * (120 + 256));
  });
}

__global__ void absentKernel(unsigned *out) {
  out[threadIdx.x] = __shfl_down_sync(~0u, threadIdx.x, 1);
}

TEST(WarpOps, WhatAnAbsentLaneHasIsNotTheSameTwice) {
  std::vector<unsigned> last;
  inSeveralOrders([&] {
    auto out = Buffer<unsigned>::allocate(20, "out");
    ORRERY_LAUNCH(absentKernel, dim3(1), dim3(20), 0, nullptr, out->data());
    ASSERT_TRUE(launchStatus("absent"));
    const std::vector<unsigned> values = *out->read();
    EXPECT_EQ(values[18], 19u);
    last.push_back(values[19]);
  });
  EXPECT_NE(std::count(last.begin(), last.end(), last[0]), ptrdiff_t(5));
}

__global__ void atomicsKernel(int *sum, unsigned *histogram,
                              unsigned long long *extremes) {
  const auto i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(sum, i % 2 == 0 ? int(i) : -int(i));
  atomicAdd(&histogram[i % 5], 1u);
  atomicMin(&extremes[0], 1000ull + i);
  atomicMax(&extremes[1], 1000ull + i);
  atomicAdd(&extremes[2], 1ull << 40);
  atomicOr(&extremes[3], 1ull << (i % 50));
}

TEST(Atomics, DoNotDependOnOrder) {
  inSeveralOrders([] {
    auto sum = Buffer<int>::copyOf(std::vector<int>{0}, "sum");
    auto histogram =
        Buffer<unsigned>::copyOf(std::vector<unsigned>(5), "histogram");
    auto extremes = Buffer<unsigned long long>::copyOf(
        std::vector<unsigned long long>{~0ull, 0, 0, 0}, "extremes");
    ORRERY_LAUNCH(atomicsKernel, dim3(4), dim3(33), 0, nullptr, sum->data(),
                  histogram->data(), extremes->data());
    ASSERT_TRUE(launchStatus("atomics"));
    EXPECT_EQ(sum->read()->front(), -66); // 132 numbers, in pairs
    EXPECT_EQ(*histogram->read(), (std::vector<unsigned>{27, 27, 26, 26, 26}));
    EXPECT_EQ(*extremes->read(),
              (std::vector<unsigned long long>{1000, 1131, 132ull << 40,
                                               (1ull << 50) - 1}));
  });
}

__global__ void countKernel(int *counts) {
  const int even = __syncthreads_count(threadIdx.x % 2 == 0);
  const int all = __syncthreads_and(threadIdx.x < 100);
  const int any = __syncthreads_or(threadIdx.x == 99);
  const int none = __syncthreads_or(threadIdx.x == 100);
  counts[threadIdx.x] = even * 1000 + all * 100 + any * 10 + none;
}

TEST(WarpOps, BarriersCount) {
  inSeveralOrders([] {
    auto counts = Buffer<int>::allocate(100, "counts");
    ORRERY_LAUNCH(countKernel, dim3(1), dim3(100), 0, nullptr, counts->data());
    ASSERT_TRUE(launchStatus("count"));
    EXPECT_EQ(*counts->read(), std::vector<int>(100, 50110));
  });
}

} // namespace
} // namespace orrery::gpu::emulated
