// A block-wide sum in several orders of threads, and the same with a barrier
// left out: the emulation must find what a GPU may hide.
#include "gpu-reference/Buffer.h"
#include "tests/gpu-reference/Orders.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

namespace orrery::gpu::emulated {
namespace {

/// What is left out of a kernel.
enum class Missing { Nothing, Barrier, SecondBarrier, WarpBarrier };

constexpr unsigned kWhole = ~0u;

__device__ unsigned warpTotal(unsigned sum) {
  for (unsigned lanes = 16; lanes > 0; lanes /= 2) {
    sum += __shfl_down_sync(kWhole, sum, lanes);
  }
  return sum;
}

/// out[block] = sum of x[i], i = block, block + blocks, …
template <Missing kMissing>
__global__ void sumKernel(const unsigned *x, int n, unsigned *out) {
  ORRERY_SHARED(unsigned, parts, [32]);
  unsigned sum = 0;
  for (unsigned i = blockIdx.x + threadIdx.x * gridDim.x; i < unsigned(n);
       i += gridDim.x * blockDim.x) {
    sum += x[i];
  }
  sum = warpTotal(sum);
  if (threadIdx.x % 32 == 0) {
    parts[threadIdx.x / 32] = sum;
  }
  if constexpr (kMissing != Missing::Barrier) {
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    const unsigned part =
        threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
    const unsigned total = warpTotal(part);
    if (threadIdx.x == 0) {
      out[blockIdx.x] = total;
    }
  }
}

/// out[i] = sum over tiles of the tile's element 63 - i.
template <Missing kMissing>
__global__ void tileKernel(const unsigned *x, int tiles, unsigned *out) {
  ORRERY_DYNAMIC_SHARED(unsigned, tile);
  unsigned sum = 0;
  for (int t = 0; t < tiles; ++t) {
    tile[threadIdx.x] = x[unsigned(t) * 64 + threadIdx.x];
    if constexpr (kMissing != Missing::Barrier) {
      __syncthreads();
    }
    sum += tile[63 - threadIdx.x];
    if constexpr (kMissing != Missing::SecondBarrier) {
      __syncthreads();
    }
  }
  out[threadIdx.x] = sum;
}

/// out[i] = x[i ^ 5], through shared memory.
template <Missing kMissing>
__global__ void swapKernel(const unsigned *x, unsigned *out) {
  ORRERY_SHARED(unsigned, words, [32]);
  words[threadIdx.x] = x[threadIdx.x];
  if constexpr (kMissing != Missing::WarpBarrier) {
    __syncwarp();
  }
  out[threadIdx.x] = words[threadIdx.x ^ 5];
}

std::vector<unsigned> someNumbers(size_t count) {
  std::mt19937 random(7);
  std::vector<unsigned> numbers(count);
  for (unsigned &number : numbers) {
    number = unsigned(random());
  }
  return numbers;
}

/// What `kernel(x, out)` leaves in out [count] in each order.
template <class Launch>
std::vector<std::vector<unsigned>> resultsOf(const std::vector<unsigned> &x,
                                             size_t count, Launch launch) {
  std::vector<std::vector<unsigned>> results;
  inSeveralOrders([&] {
    auto in = Buffer<unsigned>::copyOf(x, "x");
    auto out = Buffer<unsigned>::allocate(count, "out");
    ASSERT_TRUE(in && out);
    launch(in->data(), out->data());
    ASSERT_TRUE(launchStatus("launch"));
    results.push_back(*out->read());
  });
  return results;
}

/// Every order gives `expected`.
void expectFound(const std::vector<std::vector<unsigned>> &results,
                 const std::vector<unsigned> &expected) {
  const std::set<std::vector<unsigned>> different(results.begin(),
                                                  results.end());
  EXPECT_TRUE(different.size() > 1 || *different.begin() != expected)
      << "nothing shows that a barrier is missing";
}
void expectRight(const std::vector<std::vector<unsigned>> &results,
                 const std::vector<unsigned> &expected) {
  for (const std::vector<unsigned> &result : results) {
    EXPECT_EQ(result, expected);
  }
}

class BlockSum : public testing::TestWithParam<int> {
protected:
  template <Missing kMissing> auto results() const {
    return resultsOf(x, kBlocks, [&](const unsigned *in, unsigned *out) {
      ORRERY_LAUNCH(sumKernel<kMissing>, dim3(kBlocks),
                    dim3(unsigned(GetParam())), 0, nullptr, in, int(x.size()),
                    out);
    });
  }
  std::vector<unsigned> expected() const {
    std::vector<unsigned> sums(kBlocks);
    for (size_t i = 0; i < x.size(); ++i) {
      sums[i % kBlocks] += x[i];
    }
    return sums;
  }

  static constexpr unsigned kBlocks = 3;
  const std::vector<unsigned> x = someNumbers(5000);
};

TEST_P(BlockSum, IsTheSameInEveryOrder) {
  const auto found = results<Missing::Nothing>();
  ASSERT_EQ(found.size(), severalOrders().size());
  expectRight(found, expected());
}

TEST_P(BlockSum, ShowsAMissingBarrier) {
  expectFound(results<Missing::Barrier>(), expected());
}

INSTANTIATE_TEST_SUITE_P(Threads, BlockSum, testing::Values(64, 256, 1024));

template <Missing kMissing> auto tileResults(const std::vector<unsigned> &x) {
  return resultsOf(x, 64, [&](const unsigned *in, unsigned *out) {
    ORRERY_LAUNCH(tileKernel<kMissing>, dim3(1), dim3(64),
                  64 * sizeof(unsigned), nullptr, in, int(x.size() / 64), out);
  });
}

TEST(Reduction, ShowsEitherBarrierOfALoop) {
  const std::vector<unsigned> x = someNumbers(5 * 64);
  std::vector<unsigned> expected(64);
  for (size_t i = 0; i < x.size(); ++i) {
    expected[63 - i % 64] += x[i];
  }
  expectRight(tileResults<Missing::Nothing>(x), expected);
  expectFound(tileResults<Missing::Barrier>(x), expected);
  expectFound(tileResults<Missing::SecondBarrier>(x), expected);
}

template <Missing kMissing> auto swapResults(const std::vector<unsigned> &x) {
  return resultsOf(x, 32, [&](const unsigned *in, unsigned *out) {
    ORRERY_LAUNCH(swapKernel<kMissing>, dim3(1), dim3(32), 0, nullptr, in, out);
  });
}

TEST(Reduction, ShowsAMissingWarpBarrier) {
  const std::vector<unsigned> x = someNumbers(32);
  std::vector<unsigned> expected(32);
  for (size_t i = 0; i < 32; ++i) {
    expected[i] = x[i ^ 5];
  }
  expectRight(swapResults<Missing::Nothing>(x), expected);
  expectFound(swapResults<Missing::WarpBarrier>(x), expected);
}

} // namespace
} // namespace orrery::gpu::emulated
